"""Made-up histories against a simple model, and made-up bytes against every parser."""
