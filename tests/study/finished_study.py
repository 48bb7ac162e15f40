"""The protocol of the study that the fixture ``finished`` has run."""

from small_study import small


def protocol_of(store):
    return small(str(store.with_name("preset.toml")), datasets=("csbm",), splits=4, inits=2, epochs=2)
