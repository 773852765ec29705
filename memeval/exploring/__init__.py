"""Looking into the probes of a run: filtered, judged at other settings, made into new probes."""
