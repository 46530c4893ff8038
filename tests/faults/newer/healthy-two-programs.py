"""a-healthy-two-programs.py COMMAND... ++ COMMAND...: runs two commands at the same time. Status: that of the first that failed."""
import subprocess
import sys

words = sys.argv[1:]
at = words.index("++")
programs = [subprocess.Popen(command) for command in (words[:at], words[at + 1:])]
sys.exit(max(abs(program.wait()) for program in programs))
