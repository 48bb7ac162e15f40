// A browser takes the place of a subscript from a mathematical font. Where the machine has none, it stays on the line of its base:
// then the style sheet lowers it.
document.addEventListener("DOMContentLoaded", () => {
  const found = [...document.querySelectorAll("msub")].map((element) => [...element.children].map((part) => part.getBoundingClientRect()));
  if (found.length > 0 && found.every(([base, index]) => index.bottom - base.bottom < 0.12 * base.height)) {
    document.documentElement.classList.add("no-mathematical-font");
  }
});
