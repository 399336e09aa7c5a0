"""Published bugs of libraries, each audited in a release that has it and in one that does not: ``make corpus``."""
