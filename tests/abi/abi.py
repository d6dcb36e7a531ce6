"""The binary interface of a shared library as text, read out of its debug information by libabigail's abidw: every
exported function with its types, every public struct with the offset of each member, every enumeration."""
import re
import subprocess
import xml.etree.ElementTree as ElementTree


class Types:
    """Names and layouts of the types of a dump of abidw."""

    def __init__(self, root):
        self.by_id, self.layouts = {}, {}
        for node in root.iter():
            if node.get("id"):
                self.by_id.setdefault(node.get("id"), node)

    def name(self, type_id):
        node = self.by_id[type_id]
        kind = node.tag
        if kind == "pointer-type-def":
            inner = self.name(node.get("type-id"))
            return f"(*){inner}" if inner.startswith("(") else inner + " *"
        if kind == "qualified-type-def":
            words = [word for word in ("const", "volatile", "restrict") if node.get(word) == "yes"]
            inner = self.name(node.get("type-id"))
            return f"{inner} {' '.join(words)}" if inner.endswith("*") else f"{' '.join(words)} {inner}"
        if kind == "array-type-def":
            # libabigail calls the length of a flexible array infinite, from 2.4 on unknown
            lengths = [part.get("length").replace("unknown", "infinite") for part in node.iter("subrange")]
            sizes = "".join(f"[{length}]" for length in lengths)
            return self.name(node.get("type-id")) + sizes
        if kind == "function-type":
            return self.signature(node)
        if kind in ("class-decl", "union-decl"):
            return self.layout(node, "union" if kind == "union-decl" else "struct")
        if kind == "enum-decl":
            return self.values(node)
        if kind == "typedef-decl":
            return self.remember(node.get("name"), lambda: [f"  {self.name(node.get('type-id'))}"], "typedef ")
        return node.get("name")

    def signature(self, node):
        takes = ["..." if part.get("is-variadic") else self.name(part.get("type-id"))
                 for part in node.findall("parameter")]
        return f"({', '.join(takes) or 'void'}) -> {self.name(node.find('return').get('type-id'))}"

    def remember(self, name, make, word=""):
        """A layout of tact's once; what it is made of may lead back to it."""
        key = word + name
        if key not in self.layouts and re.search(r"\btact_", name):
            self.layouts[key] = None
            self.layouts[key] = make()
        return name

    def layout(self, node, word):
        def lines():
            members = []
            for part in node.findall("data-member"):
                member = part.find("var-decl")
                bits = int(part.get("layout-offset-in-bits") or 0)
                members.append(f"  {bits // 8:5d} {self.name(member.get('type-id'))} {member.get('name')}")
            return [f"size {int(node.get('size-in-bits')) // 8}", *members]
        if node.get("is-declaration-only") == "yes":
            return f"{word} {node.get('name')}"
        if node.get("is-anonymous") == "yes":
            return f"{word} {{{'; '.join(' '.join(line.split()) for line in lines())}}}"
        return self.remember(f"{word} {node.get('name')}", lines)

    def values(self, node):
        def lines():
            return [f"  {part.get('value')} {part.get('name')}" for part in node.findall("enumerator")]
        if node.get("is-anonymous") == "yes":
            return f"enum {{{', '.join(line.strip() for line in lines())}}}"
        return self.remember(f"enum {node.get('name')}", lines)


def dump(library, include):
    """{item: lines}: "function tact_x" with its types, "struct tact_y" with its members, "enum tact_z"."""
    words = ["abidw", "--headers-dir", include, "--exported-interfaces-only", "--drop-private-types",
             "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", library]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    root = ElementTree.fromstring(text)
    exported = {node.get("name") for node in root.find("elf-function-symbols")}
    types = Types(root)
    found = {f"function {node.get('name')}": [types.signature(node)] for node in root.iter("function-decl")
             if node.get("elf-symbol-id") in exported}
    return found | types.layouts


def version(include):
    """MAJOR.MINOR of the headers."""
    with open(f"{include}/contact/version.h", encoding="utf-8") as file:
        text = file.read()
    numbers = [re.search(rf"define TACT_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR")]
    return ".".join(numbers)


def write(path, number, items):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"version {number}\n")
        for name in sorted(items):
            file.write("\n".join([name, *items[name]]) + "\n")


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    items, item = {}, None
    for line in lines[1:]:
        if re.match(r"(function|struct|union|enum|typedef) ", line):
            item = items.setdefault(line, [])
        else:
            item.append(line)
    return lines[0].split()[1], items


def changes(known, found):
    """What of the known items is another or gone; new items break nobody."""
    lines = []
    for name, was in known.items():
        now = found.get(name)
        if now is None:
            lines.append(f"{name}: gone")
        elif now != was:
            lines += [f"{name}: was {line.strip()}" for line in was if line not in now]
            lines += [f"{name}: is {line.strip()}" for line in now if line not in was]
            lines += [f"{name}: another order"] if sorted(was) == sorted(now) else []
    return lines


def judge(known, known_version, found, found_version):
    """What is wrong, line by line; none where nothing is."""
    changed = changes(known, found)
    if found_version == known_version and changed:
        return [*changed, f"The interface of version {found_version} changed: raise TACT_VERSION_MINOR in "
                "contact/version.h, build, and run tests/abi/check --renew"]
    if found_version == known_version:
        # a change of what is not recorded would not be found
        new = [f"{name}: new" for name in sorted(found.keys() - known.keys()) if re.match(r"\w+ tact_", name)]
        return [*new, "tests/abi/layout lacks what is new, which needs no other version: run tests/abi/check --renew, "
                "in the same commit"] if new else []
    return [f"tests/abi/layout is of version {known_version}, this is {found_version}: renew it by tests/abi/check "
            "--renew, in the same commit"]
