"""``python -m tb_memory_plugin.cli``."""

from tb_memory_plugin.cli import main

raise SystemExit(main())
