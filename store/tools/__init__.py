"""The memories of other tools on this machine: read and brought in as proposals, reported on by `files`, kept in every
version by the guard, and corrected in place one by one. What a tool keeps is changed only where a person says so.

A reader of a tool finds and reads what the tool keeps, and changes no byte of it. Of a memory of ours nothing belongs
here but what comes into it from another tool."""
