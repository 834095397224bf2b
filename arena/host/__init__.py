"""This host: settings, files, certificates, addresses, processes, logs."""
