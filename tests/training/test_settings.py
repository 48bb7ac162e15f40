"""Settings from flat names."""

from chebnet2d.training import Group, Settings


def test_settings_from_flat_names():
    settings = Settings.of(lr=0.1, filter_lr=0.5, filter_weight_decay=0.0, alpha_lr=None, epochs=7)
    assert settings.group("weights") == Group(0.1, 5e-4)
    assert settings.group("filter") == Group(0.5, 0.0)
    assert settings.group("other") == Group(0.1, 5e-4)
    assert settings.epochs == 7
