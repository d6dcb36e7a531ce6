#!/usr/bin/env python3
"""lint.py RULE SOURCE: the rules of the house that a program can check.

layout    the top level holds the folders of the design and nothing else
words     no marks of unfinished work
length    no function over 80 lines, no file over 600
includes  folders include one way: contact <- rt <- kernels, devices <- examples, and no two each other, not even by
          way of others; what only compares is for the command and the tests; README.md has the drawing of it, which
          `lint.py drawing SOURCE` prints
sources   every .c and .cl file is named in a CMakeLists.txt
numbers   text becomes a number, and a number text, through contact/number.h alone: what strtod(), scanf()
          and printf() do follows the locale. What examples/ prints is free: the command sets no locale
elementary  the library takes elementary functions from contact/elementary.h alone: those of libm give other bits
          on other processors. What examples/ prints and draws is free
plain     the field's words: no word of PLAIN_WORDS in identifiers, comments and messages, nor in pages, scenes and
          scripts, except LITERAL_WORDS and rows of a table of history; no static function named by one word,
          except FIELD_TERMS; and, except in tests, none of one name in two files of a folder
comments  /** begins the comments of installed headers, of which the reference is made, and no others
pages     each folder has a README.md of at most a screen, with its way of data as a drawing in text and what to
          touch to add one of its kind
format    clang-format has nothing to change
"""
import fnmatch
import os
import re
import shutil
import subprocess
import sys

FOLDERS = ["contact", "rt", "kernels", "devices", "examples", "tests"]
TOP = set(FOLDERS) | {"CMakeLists.txt", "README.md", "LICENSE"}
ALLOWED = {  # what a folder may include besides itself
    "contact": [],
    "rt": ["contact"],
    "kernels": ["contact", "rt"],
    "devices": ["contact", "rt"],
    "examples": FOLDERS,
    "tests": FOLDERS,
}
COMPARES = "contact/compare"
CODE = (".c", ".h", ".cl", ".cc")
PLAIN_WORDS = {  # words with a private meaning: what to write instead
    r"mend(s|ing)?": "fix",
    r"(?<!\.)tell|tells|told": "report, state, return or set",
    r"dear(er|est)": "costly, costliest",
    r"whoever|somebody": "which process, thread or user",
    r"to the last bit|equal to the bit": "bit for bit",
    r"lets? go( of)?|letting go|let_go": "release, zero_outputs",
    r"go(es)? on": "continue",
    r"gives? (it |them )?back|given back|give_back": "release, return",
    r"(come|comes|came|stands?|taken) apart": "separate, differ",
    r"beside the loop": "in a thread of its own",
    r"stands? (in|at) the": "is in the",
    r"goes by the": "follows, depends on",
    r"tapes?": "capture",
}
LITERAL_WORDS = {"lets go", "let go", "letting go", "go on", "goes on"}  # in prose: of fingers, of what moves
TEXT = (".md", ".yaml", ".js", ".mjs", ".css", ".html", ".py", ".cmake", ".txt", ".rules", ".conf", ".in")  # and scripts, whose names have no ending
TEXT_AS_IT_IS = ("LICENSE", "tests/lint/lint.py", "tests/lint/READERS.md")
HISTORY = re.compile(r"\| *\d+ \| \d{4}-\d\d-\d\d \|")  # a row of what changed, as it was written on that day
PAGE_LINES = 60  # a screen
WITHOUT_PAGE = re.compile(r"(.*/)?(pictures|assets|support|haptic|consumer)|examples/(hands|imports|layouts)|tests/unit/plugin|"
                          r"tests/data/.*|tests/bench/toss|\..*")  # the folder above has a line for each
LONG_PAGES = ("contact", "examples/scenes", "tests/bench")  # the mathematics of a tick, the gallery, measurements
FIELD_TERMS = {"cross", "dot", "uniform"}  # one word that is the whole name of an operation of the field
STATIC_FUNCTION = re.compile(r"^static [^;={]*?\b(\w+)\(", re.M)
FUNCTION_LINES = 80
FILE_LINES = 600
FORMAT_VERSION = 14  # of Debian 12: others lay out some lines differently
SKIP = 77


def files():
    """Paths of the project's files: what git knows or would add, else all but build folders."""
    git = ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(git, capture_output=True, check=True).stdout.decode().split("\0")
        return sorted(path for path in set(listed) if os.path.isfile(path))
    except (OSError, subprocess.CalledProcessError):
        pass
    found = []
    for folder, folders, names in os.walk("."):
        folders[:] = [f for f in folders if f != ".git" and not f.startswith("build")]
        found += [os.path.relpath(os.path.join(folder, name)) for name in names]
    return sorted(found)


def lines(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().splitlines()
    except FileNotFoundError:  # of a test that runs beside this one
        return []


def code():
    return [path for path in files() if path.endswith(CODE)]


def layout():
    tops = sorted({path.split("/")[0] for path in files()})
    return [f"{top}: not an entry of the top level" for top in tops
            if top not in TOP and not top.startswith(".")]


def words():
    marks = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) + r")\b")
    binary = (".png", ".stl", ".jpg", ".bin", ".mcap")
    return [f"{path}:{n}: {line.strip()}" for path in files() if not path.endswith(binary)
            for n, line in enumerate(lines(path), 1) if marks.search(line)]


def one_word_functions():
    """Static functions whose name says only what is done, or only to what."""
    return [f"{path}: {name}(): name what is done and to what, in two words or more"
            for path in code() for name in sorted(set(STATIC_FUNCTION.findall(text_of(path))))
            if "_" not in name and name not in FIELD_TERMS]


def prose():
    """Pages, scenes and scripts."""
    return [path for path in files() if path not in TEXT_AS_IT_IS and
            (path.endswith(TEXT) or "." not in os.path.basename(path))]


def word_of(words):
    return re.compile(r"(?<![a-zA-Z])(" + words + r")(?![a-zA-Z])", re.I)


def private_words(path, literal=()):
    """Words of PLAIN_WORDS in a file."""
    text = lines(path)
    if not ANY_PLAIN_WORD.search(re.sub(r"\n[ */#]*", " ", "\n".join(text))):
        return
    for n, line in enumerate(text, 1):
        # Lines of a comment are joined by two: a phrase may be broken.
        pair = line + " " + text[n].lstrip(" */#") if n < len(text) else line
        for word, instead in PLAIN_WORDS.items():
            found = word_of(word).search(pair)
            if found and found.start() < len(line) and found.group(0).lower() not in literal and not HISTORY.match(line):
                yield f"{path}:{n}: \"{found.group(0)}\": write {instead}"


ANY_PLAIN_WORD = word_of("|".join(PLAIN_WORDS))


def plain():
    wrong = one_word_functions()
    for path in prose():
        wrong += private_words(path, LITERAL_WORDS)
    code_paths = code()
    for folder in sorted({os.path.dirname(path) for path in code_paths}):
        defined = {}
        for path in [p for p in code_paths if os.path.dirname(p) == folder]:
            wrong += private_words(path)
            if path.endswith(".c"):
                for name in set(STATIC_FUNCTION.findall("\n".join(lines(path)))):
                    defined.setdefault(name, []).append(path)
        for name, paths in sorted(defined.items()):
            # Each source of a test is a program of its own, so that names may recur.
            if len(paths) > 1 and folder.split("/")[0] != "tests":
                wrong.append(f"{name}() is static in {' and '.join(paths)}")
    return wrong


def comments():
    return [f"{path}:{n}: write /* here: /** is for installed headers" for path in code()
            if not path.endswith(".h") or path.endswith("_internal.h") or path.split("/")[0] in ("examples", "tests")
            for n, line in enumerate(lines(path), 1) if re.search(r"/\*\*(?![*/])", re.sub(r'"[^"]*"', "", line))]


def pages():
    wrong = []
    for folder in sorted({os.path.dirname(path) for path in files()} - {""}):
        if WITHOUT_PAGE.fullmatch(folder):
            continue
        page = folder + "/README.md"
        text = [line for line in lines(page) if not HISTORY.match(line)]
        if not text:
            wrong.append(f"{page}: missing")
            continue
        if len(text) > PAGE_LINES and folder not in LONG_PAGES:
            wrong.append(f"{page}: {len(text)} lines, more than {PAGE_LINES}: move details to a page beside it")
        if "```" not in text:
            wrong.append(f"{page}: no drawing, between lines of ```")
        if not any(re.search(r"\*\*To (add|change)\b|^(## )?To add\b", line) for line in text):
            wrong.append(f"{page}: no sentence that begins with \"**To add\"")
    return wrong


def length():
    wrong = []
    for path in code():
        text = lines(path)
        if len(text) > FILE_LINES:
            wrong.append(f"{path}: {len(text)} lines, more than {FILE_LINES}")
        start = None
        for n, line in enumerate(text, 1):
            # A function's braces stand in the first column, and nothing else's do.
            if line == "{":
                start = n
            elif line == "}" and start is not None:
                if n - start + 1 > FUNCTION_LINES:
                    wrong.append(f"{path}:{start}: a function of {n - start + 1} lines, "
                                 f"more than {FUNCTION_LINES}")
                start = None
    return wrong


def reached(used, folder):
    """Folders that one includes, itself or by way of others; used: the folders that each includes."""
    seen, left = set(), [folder]
    while left:
        new = used.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return seen


def find_includes():
    """What may not be included, and the folders that each folder of the product includes."""
    wrong, used = [], {}
    pattern = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
    for path in code():
        folder = path.split("/")[0]
        for n, line in enumerate(lines(path), 1):
            match = pattern.match(line)
            if folder not in ALLOWED or not match:
                continue
            beside = os.path.normpath(os.path.join(os.path.dirname(path), match.group(1)))
            named = beside if os.path.exists(beside) else match.group(1)
            target = named.split("/")[0]
            if target in FOLDERS and target != folder and target not in ALLOWED[folder]:
                wrong.append(f"{path}:{n}: {folder} may not include {named}")
            if named.startswith(COMPARES) and "tests" not in ALLOWED[folder] and not path.startswith(COMPARES):
                wrong.append(f"{path}:{n}: only the command and tests include {named}")
            if target in FOLDERS and folder != "tests" and os.path.dirname(path) != os.path.dirname(named):
                used.setdefault(os.path.dirname(path), set()).add(os.path.dirname(named))
    return wrong, used


def draw(used):
    """The tree of folders, each below the one it includes that itself includes most. Named behind it are others that
    it includes, but for those that are included by way of others."""
    below, others = {}, {}
    for folder, included in used.items():
        needed = [f for f in sorted(included) if not any(f in reached(used, other) for other in included)]
        needed.sort(key=lambda f: -len(reached(used, f)))
        below.setdefault(needed[0], []).append(folder)
        others[folder] = sorted(needed[1:])

    def branches(folder, indent):
        names = sorted(below.get(folder, []))
        for name in names:
            last = name == names[-1]
            yield f"{indent}{'└── ' if last else '├── '}{' + '.join([name, *others[name]])}"
            yield from branches(name, indent + ("    " if last else "│   "))
    roots = sorted(set(below) - set(used))
    return [line for root in roots for line in (root, *branches(root, ""))]


def includes():
    wrong, used = find_includes()
    rings = [f"{folder}/ includes itself by way of others" for folder in sorted(used) if folder in reached(used, folder)]
    if not wrong and not rings and "\n".join(draw(used)) not in "\n".join(lines("README.md")):
        rings.append("README.md: the drawing of the includes differs from what `tests/lint/lint.py drawing .` prints")
    return wrong + rings


def sources():
    wrong = []
    for path in code():
        if not path.endswith((".c", ".cl", ".cc")) or path.startswith("tests/unit/"):
            continue
        folder = os.path.dirname(path)
        while folder and not os.path.exists(os.path.join(folder, "CMakeLists.txt")):
            folder = os.path.dirname(folder)
        listing = os.path.join(folder, "CMakeLists.txt")
        text, name = "\n".join(lines(listing)), os.path.relpath(path, folder)
        patterns = " ".join(re.findall(r"file\(GLOB \w+ CONFIGURE_DEPENDS ([^)]*)\)", text)).split()
        if any(name.count("/") == p.count("/") and fnmatch.fnmatch(name, p) for p in patterns):
            continue
        if not re.search(rf"(?<![\w/]){re.escape(name)}\b", text):
            wrong.append(f"{path}: not named in {listing}")
    return wrong


def calls(text, names):
    """(line, name, arguments) of every call of one of the functions."""
    for match in re.finditer(rf"\b({names})\s*\(", text):
        depth, quoted, end = 0, False, match.end() - 1
        while end < len(text):
            c = text[end]
            if quoted:
                end += c == "\\"
                quoted = c != '"'
            elif c == '"':
                quoted = True
            elif c in "()":
                depth += 1 if c == "(" else -1
                if not depth:
                    break
            end += 1
        yield text.count("\n", 0, match.start()) + 1, match.group(1), text[match.end():end]


def text_of(path):
    """A file without its comments, line by line where it was."""
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), "\n".join(lines(path)),
                  flags=re.DOTALL)


def elementary():
    functions = ("a?(?:sin|cos|tan)h?|sincos|atan2|cbrt|hypot|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|erfc?|"
                 "[lt]gamma")
    wrong = []
    for path in code():
        if path.split("/")[0] in ("tests", "examples") or not path.endswith((".c", ".h")):
            continue
        wrong += [f"{path}:{line}: {name}: use contact/elementary.h"
                  for line, name, _ in calls(text_of(path), f"(?:{functions})[fl]?")]
    return wrong


def numbers():
    wrong = []
    conversion = re.compile(r"%(?:%|[-+ #0-9.*']*(?:l|L)?([aAeEfFgG]))")
    for path in code():
        folder = path.split("/")[0]
        if folder == "tests" or path == "contact/number.c" or not path.endswith((".c", ".h")):
            continue
        text = text_of(path)
        found = list(calls(text, "strto[dfl]d?(?:_l)?|atof|setlocale|newlocale|uselocale"))
        if folder != "examples":
            found += calls(text, "vsn?printf|vd?printf|vfprintf|vasprintf|vs?scanf")
        scans = "sscanf|fscanf"
        prints = "" if folder == "examples" else "|s?n?printf|[fd]printf|asprintf|json_sprintf"
        for line, name, arguments in calls(text, scans + prints):
            formats = "\0".join(re.findall(r'"((?:[^"\\]|\\.)*)"', arguments))
            if any(m.group(1) for m in conversion.finditer(formats)):
                found.append((line, name, ""))
        wrong += [f"{path}:{line}: {name}: use contact/number.h" for line, name, _ in sorted(found)
                  if name != "strtol"]
    return wrong


def format():
    tool = shutil.which("clang-format")
    if not tool:
        print("skipped: clang-format is not installed")
        sys.exit(SKIP)
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    if not re.search(rf"version {FORMAT_VERSION}\.", version):
        print(f"skipped: the layout is that of clang-format {FORMAT_VERSION}; here is {version.strip()}")
        sys.exit(SKIP)
    paths = [path for path in code() if not path.endswith(".cl")]
    run = subprocess.run([tool, "--dry-run", "-Werror", *paths], capture_output=True, text=True,
                         check=False)
    places = re.findall(r"^(.+?):(\d+):\d+: error:", run.stderr, re.MULTILINE)
    first = {}
    for path, line in places:
        first.setdefault(path, line)
    found = [f"{path}:{line}: clang-format -i {path} fixes this" for path, line in first.items()]
    return found if found or run.returncode == 0 else [run.stderr]


def main():
    rules = {f.__name__: f for f in (layout, words, plain, comments, pages, length, includes, sources, numbers,
                                     elementary, format)}
    if len(sys.argv) != 3 or sys.argv[1] not in [*rules, "drawing"]:
        sys.exit(__doc__)
    os.chdir(sys.argv[2])
    if sys.argv[1] == "drawing":
        print("\n".join(draw(find_includes()[1])))
        return
    wrong = rules[sys.argv[1]]()
    print("\n".join(wrong) if wrong else "nothing to fix")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
