"""Nothing but `pyplot`, which draws nothing: the page shows the plots of its units anyway."""
