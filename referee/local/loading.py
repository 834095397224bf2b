"""Bots from Python files: loaded, and kept apart though they play in one process."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import referee.bot
from referee.bot.bots import Bot
from referee.errors import ProgramError

METHODS = ("choose", "choose_many")
"""A class with one of these is a bot."""


MAIN = "__mp_main__"
"""What a bot's module is called: the name of a program's own file in the processes that it starts, which thus
find there what the bot sends them."""
MAINS = ("__main__", MAIN)


class _Folder:
    """The folder of bots' files, whose modules only these bots import.

    Two versions of a bot have modules of the same names. While one of them plays, the names mean its own.
    """

    _at: "_Folder | None" = None
    """The folder whose modules the names mean now."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._inside = f"{folder}/"
        self._modules: dict[str, ModuleType] = {}
        self._loaded = 0
        """How many modules there were when those of the folder were last looked for."""

    def enter(self) -> None:
        """Make imports find the folder's modules, from now until another folder is entered."""
        if _Folder._at is self:
            return
        if _Folder._at is not None:
            _Folder._at._leave()
        _Folder._at = self
        sys.path.insert(0, str(self._folder))
        sys.modules.update(self._modules)
        self._loaded = len(sys.modules)
        importlib.invalidate_caches()

    def _leave(self) -> None:
        """Remove the folder's modules from ``sys.modules``, and remember them."""
        if len(sys.modules) != self._loaded:
            own = {name: module for name, module in sys.modules.items() if self._is_inside(module)}
            self._modules |= own
        for name in self._modules:
            sys.modules.pop(name, None)
        if str(self._folder) in sys.path:
            sys.path.remove(str(self._folder))

    def _is_inside(self, module: ModuleType) -> bool:
        file = getattr(module, "__file__", None)
        return isinstance(file, str) and file.startswith(self._inside) and "site-packages" not in file


class Home:
    """Where a bot's code runs: its folder's modules are found, and its file is the program."""

    def __init__(self, folder: _Folder, main: ModuleType) -> None:
        self._folder = folder
        self._main = main
        """The module of the bot's file."""

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Let the bot's code run in the block as if its file had been started."""
        self._folder.enter()
        modules = sys.modules
        before = [(name, modules.get(name)) for name in MAINS]
        for name in MAINS:
            modules[name] = self._main
        try:
            yield
        finally:
            for name, module in before:
                if module is None:
                    modules.pop(name, None)
                else:
                    modules[name] = module


_folders: dict[Path, _Folder] = {}
_homes: dict[Path, Home] = {}


def home_of(path: Path) -> Home:
    """Return the home of a bot's file, which ``load_file`` has loaded."""
    return _homes[path.absolute()]


def load_file(path: Path) -> Bot:
    """Load the bot of a Python file: its function ``choose``, or else its one class that has one.

    If the file itself calls ``main``, the bot is the argument of that call.

    Raise ProgramError if there is no bot, or the file cannot be read or run.
    """
    if not path.is_file():
        raise ProgramError(str(path), "file does not exist")
    file = path.absolute()
    spec = importlib.util.spec_from_file_location(MAIN, file)
    if spec is None or spec.loader is None:
        raise ProgramError(str(path), "is not a Python file")
    module = importlib.util.module_from_spec(spec)
    module.__spec__ = None  # a program's own file has none
    folder = _folders.setdefault(file.parent, _Folder(file.parent))
    home = _homes[file] = Home(folder, module)
    try:
        with home.entered(), _main_hands_over():
            spec.loader.exec_module(module)
    except _HandedOver as handed:
        return handed.bot
    except (Exception, SystemExit) as error:  # whatever the author's program raises
        raise ProgramError(str(path), f"cannot be imported: {_where(error, path)}") from error
    return bot_in(module, str(path))


class _HandedOver(BaseException):
    """A file has called ``main`` with its bot."""

    def __init__(self, bot: Bot) -> None:
        super().__init__()
        self.bot = bot


@contextmanager
def _main_hands_over() -> Iterator[None]:
    """Make ``referee.bot.main`` hand the bot over instead of running it."""

    def hand_over(bot: Bot, **_options: object) -> None:
        raise _HandedOver(bot)

    before = referee.bot.main
    setattr(referee.bot, "main", hand_over)  # noqa: B010 it has another type
    try:
        yield
    finally:
        setattr(referee.bot, "main", before)  # noqa: B010


def bot_in(module: ModuleType, program: str) -> Bot:
    """Return the bot of a module. Raise ProgramError if there is none, or more than one."""
    function: Any = getattr(module, "choose", None)
    if callable(function):
        bot: Bot = function
        return bot
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and _chooses(value)
    ]
    if len(classes) != 1:
        many = f"{len(classes)} classes" if classes else "no class"
        raise ProgramError(program, f"has no function choose(turn), and {many} with a method choose")
    return classes[0]


def _chooses(value: type) -> bool:
    return any(hasattr(value, name) for name in METHODS)


def _where(error: BaseException, path: Path) -> str:
    """Return an error as one line, with the number of the line in the file where it was raised."""
    said = " ".join(str(error).split())
    at, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path.absolute()):
            at = f" (line {trace.tb_lineno})"
        trace = trace.tb_next
    return f"{type(error).__name__}: {said}{at}" if said else f"{type(error).__name__}{at}"
