"""Colours of Relay's text on the pages."""
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text


class RelayLexer(RegexLexer):
    name = "Relay"
    aliases = ["relay"]
    tokens = {
        "root": [
            (r"//[^\n]*|/\*.*?\*/", Comment),
            (r'"[^"\n]*"', String),
            (words(("def", "fn", "let", "if", "else", "match", "type", "extern"), suffix=r"\b"), Keyword),
            (words(("Tensor", "bool", "Ref"), suffix=r"\b"), Keyword.Type),
            (r"(float|int|uint|bfloat)\d+\b", Keyword.Type),
            (r"[@%$][\w.]+", Name.Variable),
            (r"\d[\w.]*", Number),
            (r"[\w.]+", Name),
            (r"[-+*/=<>!&|?#]+", Operator),
            (r"\s+", Text),
            (r".", Text),
        ]
    }
