"""Arrays in memory: where they are, who looks at them, and how other processes and files share them."""
