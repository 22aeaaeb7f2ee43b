"""Pictures, files, commands: physics never imports this."""
