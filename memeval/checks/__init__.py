"""What makes a probe, a history or a suite wrong, or weak; faults as a person reads them."""
