"""What a write needs: its queue, the reserve on disk, the log, the capture of its changes, the count of crashes."""
