"use strict";
// Sorting, filters, tips and the theme. Without scripts the page still shows everything but the tips.
(() => {
  const all = (root, query) => [...root.querySelectorAll(query)];

  // ---- theme ----
  const theme = document.getElementById("theme");
  const choose = (name) => {
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
  };
  try { theme.value = localStorage.getItem("chebnet2d-theme") || ""; } catch { /* pages from a disk may have no storage */ }
  choose(theme.value);
  theme.addEventListener("change", () => {
    choose(theme.value);
    try { localStorage.setItem("chebnet2d-theme", theme.value); } catch { /* the choice holds for this visit */ }
  });

  // ---- sorting: numbers by their order, else words; what is empty comes last ----
  const key = (cell) => {
    if (cell.dataset.order !== undefined) return Number(cell.dataset.order);
    return cell.textContent.trim().toLowerCase();
  };
  const compare = (a, b) => {
    const x = key(a), y = key(b);
    if (typeof x === "number" && typeof y === "number") return x - y;
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
    return x.localeCompare(y, undefined, { numeric: true });
  };
  for (const button of all(document, ".sort")) {
    button.addEventListener("click", () => {
      const head = button.closest("th"), body = head.closest("table").tBodies[0], column = head.cellIndex;
      // Of numbers the largest is wanted first.
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      for (const one of head.parentNode.cells) one.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...body.rows];
      const empty = (row) => row.cells[column].textContent.trim() === "";
      rows.sort((a, b) => empty(a) - empty(b) || sign * compare(a.cells[column], b.cells[column]));
      body.append(...rows);
    });
  }

  // ---- filters: words between blanks, any of which may match ----
  const words = (input) => input.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const matches = (text, wanted) => !wanted.length || wanted.some((word) => text.toLowerCase().includes(word));
  for (const filters of all(document, ".filters")) {
    const table = filters.parentNode.querySelector("table"), status = filters.querySelector(".count");
    const [rows, columns] = all(filters, "input");
    const update = () => {
      const heads = [...table.tHead.rows[0].cells];
      const seen = heads.map((head, i) => i === 0 || matches(head.textContent, words(columns)));
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !matches(row.cells[0].textContent, words(rows));
        shown += !row.hidden;
        [...row.cells].forEach((cell, i) => { cell.hidden = !seen[i]; });
      }
      heads.forEach((head, i) => { head.hidden = !seen[i]; });
      const total = table.tBodies[0].rows.length, wide = seen.length - 1;
      const some = shown < total || seen.includes(false);
      status.textContent = some ? `${shown} of ${total} rows, ${seen.filter(Boolean).length - 1} of ${wide} columns` : "";
    };
    for (const input of [rows, columns]) input.addEventListener("input", update);
  }

  // ---- tips: while a cell is pointed at or has the focus; Escape closes ----
  let open = null, timer = 0;
  const hide = () => {
    clearTimeout(timer);
    if (open) open.hidden = true;
    open = null;
  };
  const later = () => { clearTimeout(timer); timer = setTimeout(hide, 200); };
  const show = (button) => {
    const tip = document.getElementById(button.getAttribute("aria-describedby"));
    clearTimeout(timer);
    if (open === tip) return;
    hide();
    tip.hidden = false;
    open = tip;
    const place = button.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const below = place.bottom + size.height < innerHeight || place.top < innerHeight / 2;
    tip.style.left = `${Math.max(4, Math.min(place.left, innerWidth - size.width - 4))}px`;
    tip.style.top = below ? `${place.bottom}px` : `${Math.max(4, place.top - size.height)}px`;
  };
  for (const button of all(document, ".tipped")) {
    const tip = document.getElementById(button.getAttribute("aria-describedby"));
    button.addEventListener("pointerenter", () => show(button));
    button.addEventListener("focus", () => show(button));
    button.addEventListener("click", () => show(button));
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, later);
    tip.addEventListener("pointerenter", () => clearTimeout(timer));
    tip.addEventListener("pointerleave", later);
  }
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("scroll", (event) => { if (open && !open.contains(event.target)) hide(); }, true);

  // ---- on paper all details are open ----
  addEventListener("beforeprint", () => { for (const one of all(document, "details:not([open])")) { one.open = true; one.dataset.closed = ""; } });
  addEventListener("afterprint", () => { for (const one of all(document, "details[data-closed]")) { one.open = false; delete one.dataset.closed; } });
})();
