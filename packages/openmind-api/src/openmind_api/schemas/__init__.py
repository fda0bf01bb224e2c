"""What goes over the wire: the bodies that are taken, and the answers that are given."""
