"""The cues of text that addresses an agent: orders, roles, tools, and concealment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fumishirube.agreed_names import AddressReason


class Cue(NamedTuple):
    """A pattern over a folded sentence, and its weight on its own, from 0 to 1."""

    reason: AddressReason
    weight: float
    pattern: re.Pattern[str]

    @property
    def japanese(self) -> bool:
        """Whether the pattern matches only text with Japanese characters."""
        return not self.pattern.pattern.isascii()


_AI = (
    r"(?:(?:(?:ai|virtual|digital) (?:assistant|agent|model|system|reviewer|reader|tool)"
    r"|(?:large )?language model|chat ?bot|llm|ai)s?|chatgpt|gpt-?\d*|claude|gemini|copilot)"
)
_THEM = rf"(?:{_AI}|(?:the )?(?:assistant|model|agent))"
_DROP = (
    r"(?:ignore|disregard|forget|discard|override|bypass"
    r"|(?:do not|don't|stop|never) (?:follow|obey)\w*)"
)
_BEFORE = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|original|initial|system|safety|your"
    r"|you (?:have been|were|had been) (?:given|told))"
)
_ORDERS = (
    r"(?:instruction|direction|order|command|rule|guideline|polic(?:y|ie)|prompt|restriction)s?"
)
_SAY = (
    r"(?:answer|respond|reply|say|state|rate|rank|recommend|describe|quote|mention|mark|give"
    r"|praise|tell|omit|leave out|conclude|claim)"
)
_SECRETS = (
    r"(?:(?:system|hidden|full|your) prompt|your instructions|api keys?|passwords?|tokens?"
    r"|credentials|tool definitions|chat history|conversation)"
)
_AI_JA = (
    r"(?:(?<![a-z])ai(?![a-z])(?:アシスタント|エージェント|モデル|システム)?|生成ai|(?:大規模)?言語モデル"
    r"|(?<![a-z])llm(?![a-z])|チャットボット|chatgpt|claude|クロード|gemini|copilot)"
)
_THEM_JA = rf"(?:{_AI_JA}|アシスタント|エージェント|モデル)"
_BEFORE_JA = (
    r"(?:これまで|今まで|いままで|ここまで|以前|先程|先ほど|上記|前述|上述"
    r"|過去|元|本来|最初|あなた)"
)
_ORDERS_JA = r"(?:指示|命令|ルール|規則|プロンプト|ガイドライン|制約|ポリシー)"
_DROP_JA = (
    r"(?:(?:無視|破棄)(?:し(?!た)|せよ|すること)|忘れ(?:て|よ|ろ|、|ること)|取り消(?:して|せ)"
    r"|従わ(?:ず|ないで|ないこと)|従う必要は(?:ない|ありません))"
)
_SAY_JA = r"(?:述べ|答え|回答|返答|評価|説明|勧め|推奨|引用|言及|触れ|伝え|称賛|紹介|挙げ|書き添え)"
_ORDER_JA = r"(?:てください|でください|すること|ること|ないこと|せよ|なければな)"
_SECRETS_JA = (
    r"(?:プロンプト|apiキー|パスワード|トークン|会話の?履歴"
    r"|ツールの定義|設定内容|利用者の[^。]{1,8})"
)
_GIVE_JA = (
    r"(?:(?:出力|表示|送信)(?:し(?!ない)|せよ|すること)|示し|示せ|明か|付け(?!な)|渡(?:せ|すこと))"
)
_USER_JA = r"(?:ユーザー?|利用者|読者|会話の相手)"
_TEXT_JA = r"(?:これ|この(?:文書|文章|文|ページ|節|章|ファイル|報告書|資料|段落))"

_WRITTEN: Mapping[AddressReason, Sequence[tuple[float, str]]] = {
    "override": (
        (0.6, rf"\b{_DROP} (?:\w+ ){{0,4}}?{_BEFORE} (?:\w+ ){{0,3}}?{_ORDERS}\b"),
        (0.6, rf"\b{_DROP} (?:any |all |the |these )*{_ORDERS} (?:that )?you\b"),
        (
            0.6,
            rf"\b{_DROP} (?:everything|anything|all|what|whatever) (?:that )?(?:you|the user)\b",
        ),
        (0.5, r"\byour (?:new|real|only|actual) (?:task|instructions?|role|job|goal)\b"),
        (0.5, r"\byour (?:instructions|rules|orders) are now\b"),
        (
            0.3,
            r"\b(?:prompt|instructions|directions|rules|guidelines) (?:no longer|(?:is|are) void)",
        ),
        (0.3, r"\b(?:obey|follow) only\b"),
        (0.3, r"\b(?:reply|respond|answer) only with\b|\bwithout restrictions?\b"),
        (0.5, r"\b(?:your|hidden|full|earlier|new) system prompt\b"),
        (0.6, rf"{_BEFORE_JA}[^。]{{0,20}}?{_ORDERS_JA}[^。]{{0,10}}?{_DROP_JA}"),
        (0.6, r"(?:ユーザー?|利用者)の(?:質問|依頼|指示|要求)[^。]{0,6}無視"),
        (
            0.6,
            r"システムプロンプト(?:は|が)[^。]{0,8}(?:終了|終わり|無効)|システムプロンプトとして",
        ),
        (0.4, r"(?:指示|命令|ルール|プロンプト)は[^。]{0,8}(?:取り消され|無効にな|無効で)"),
        (0.3, r"新しい指示|(?:文書|ページ|ファイル)[^。]{0,8}だけに従|とだけ(?:答え|返答|回答)"),
        (0.4, r"安全(?:ポリシー|規則|フィルタ)[^。]{0,4}(?:解除|無効)|制限なしで(?:回答|答え)"),
        (0.35, rf"{_DROP_JA}[、,]?[^。]{{0,20}}すべて「|すべて出力"),
    ),
    "address": (
        (
            0.6,
            (
                r"\b(?:note|message|instructions?|attention|notice|reminder|request|warning),? "
                rf"(?:to|for) (?:all |any |every |the )*{_AI}\b"
            ),
        ),
        (0.55, r"\binstructions? (?:to|for) the (?:assistant|model|agent)\b ?:"),
        (0.6, rf"^\W*(?:dear|hey|hi|hello|attention|attn)[, ]+{_THEM}\b"),
        (0.6, rf"^\W*to (?:any|all|every|the) {_AI}\b"),
        (0.7, rf"\bif you are (?:an? |the )?{_AI}\b|\bas an? {_AI},? you\b"),
        (0.6, rf"\b{_THEM} (?:that is |who is )?(?:reading|processing|indexing|summari[sz]ing) th"),
        (0.6, rf"\bwhen (?:an? |the )?{_THEM} (?:reads|processes|summari[sz]es) th"),
        (0.55, r"\bwhen you (?:summari[sz]e|process|index|parse) th"),
        (
            0.6,
            (
                rf"\b{_AI}\b[^.:;]{{0,40}}? (?:must|should|shall|will|is asked to|are asked to|"
                rf"are required to) (?:always |never |only )?{_SAY}\b"
            ),
        ),
        (0.5, rf"^\W*(?:assistant|{_AI}), (?!\w+ and\b)"),
        (
            0.55,
            (
                rf"(?:^|<!-- ?|> ?)(?:assistant|{_AI}) ?: "
                rf"(?:please |always |never )?(?:{_SAY}|do|you)\b"
            ),
        ),
        (0.3, r"\b(?:tell|convince) (?:the|your) (?:reader|user)\b"),
        (
            0.6,
            rf"{_AI_JA}(?:の(?:皆さん|みなさん))?(?:へ(?=[:。、,!]|$)|への(?:指示|注意|お願い|伝言|命令))",
        ),
        (0.55, r"(?:アシスタント|エージェント|モデル)への(?:指示|注意|命令)[:。]"),
        (0.6, rf"{_TEXT_JA}を?(?:読|処理|要約|索引|解析)[^。]{{0,8}}{_THEM_JA}"),
        (0.6, rf"{_THEM_JA}[がは][、,]?{_TEXT_JA}を?(?:読|処理|要約|索引|解析)"),
        (0.55, rf"{_TEXT_JA}を(?:要約|処理|索引)する(?:とき|時|際|場合)"),
        (0.7, rf"あなたが{_AI_JA}|{_AI_JA}である(?:あなた|なら)"),
        (
            0.6,
            rf"{_AI_JA}[^。、,でにをが]{{0,16}}は[、,]?[^。]{{0,60}}?{_SAY_JA}[^。]{{0,6}}?{_ORDER_JA}",
        ),
        (0.5, rf"^\W*{_AI_JA}[、,]|^\W*アシスタントよ"),
        (
            0.3,
            (
                r"(?:^|<!-- ?)アシスタント:|読者に[^。]{0,4}(?:伝え|説明)"
                r"|(?:当社|当店)[^。]{0,20}(?:勧め|挙げ)"
            ),
        ),
    ),
    "persona": (
        (
            0.4,
            (
                r"\byou are now (?!ready|able|logged|connected|registered|done|finished|on |in |"
                r"at |set |signed |using )"
            ),
        ),
        (
            0.6,
            r"\byou are (?:no longer|not|now) an? (?:\w+ ){0,2}(?:assistant|ai|chatbot|model|bot)",
        ),
        (0.55, r"\bfrom now on,? you (?:act|are|will|must|behave|respond|answer|obey)\b"),
        (0.5, r"\bpretend (?:that )?(?:you are|you're|to be)\b"),
        (0.3, r"\b(?:developer|debug|god|dan|jailbreak|unrestricted) mode\b"),
        (
            0.4,
            (
                r"\b(?:stop|without|disable|no) (?:any |all |your )?"
                r"(?:filter(?:s|ing)?|restrictions?|safety)\b"
            ),
        ),
        (
            0.55,
            r"あなたは(?:今から|これから|もう|もはや)[^。]{0,30}(?:です|ではありません|である)(?:。|$)",
        ),
        (0.55, r"あなたは[^。]{0,30}として振る舞"),
        (0.5, r"(?:になりきって|のふりをして)[^。]{0,200}(?:ください|せよ|こと)"),
        (0.3, r"(?:開発者|デバッグ|脱獄|無制限)モードに(?:入|切り替|移)"),
        (0.4, r"(?:回答|応答)の(?:制限|フィルタ)"),
    ),
    "role": (
        (0.7, r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?inst\]|<</?sys>>"),
        (0.5, r"</?(?:system|instructions?|assistant|system_prompt)>"),
        (0.5, r"# ?(?:system|assistant)(?: prompt| message)? ?:"),
        (0.5, r"# ?システム(?:プロンプト)? ?:"),
        (0.25, r"^\W*(?:system|assistant) ?:"),
        (0.25, r"^\W*(?:システム|アシスタント) ?:"),
        (0.5, r"^\W*(?:system|assistant) ?: ?you (?:will|are|must)\b"),
        (0.5, r"^\W*(?:システム|アシスタント) ?: ?あなた"),
    ),
    "tool": (
        (0.5, r"\byour \w+ tool\b"),
        (0.4, r"\b(?:call|use|invoke|run|execute) (?:the )?(?:tool |function )?[a-z]+_[a-z_]+\b"),
        (0.4, r"(?<![a-z_])[a-z]+_[a-z_]+ ?(?:ツール|関数)?(?:を(?:呼び|使って|実行)|を、)"),
        (0.3, r"(?:ブラウザー?|ターミナル|メール|検索) ?ツールで|ツールを呼び出"),
        (0.4, r"\b(?:this|our) (?:conversation|chat)\b|\bfrom the conversation\b"),
        (0.4, r"この会話|直近の会話|会話に含まれる|会話の(?:履歴|相手)"),
        (
            0.3,
            (
                r"\bthe user's (?:questions?|files?|mailbox|messages?|data|passwords?)"
                r"|\bthat you can see"
            ),
        ),
        (0.3, r"利用者の(?:質問|ファイル|メール|データ|会話)|見えている"),
        (
            0.5,
            (
                r"(?<!not )(?<!never )\b(?:reveal|print|output|show|display|repeat|dump|leak|send|"
                rf"forward|upload|append|post) (?:[\w']+ ){{0,4}}?{_SECRETS}\b"
            ),
        ),
        (0.5, rf"{_SECRETS_JA}[^。]{{0,30}}?{_GIVE_JA}"),
        (0.2, r"https?://|\w@\w"),
        (0.2, r"\bcurl [^|]{1,80}\| ?(?:ba)?sh\b"),
        (0.3, r"\b(?:before|when) (?:you )?answer"),
        (0.3, r"回答する前に"),
    ),
    "conceal": (
        (
            0.55,
            (
                r"\b(?:do not|don't|never|without) (?:\w+ ){0,2}?(?:tell|inform|mention|notify|"
                r"alert|show|let|reveal)(?:ing)? (?:\w+ ){0,2}?the (?:user|reader|human)\b"
            ),
        ),
        (
            0.5,
            (
                r"^\W*(?:please |always )?keep (?:\w+ ){0,4}?secret from the "
                r"(?:user|reader|person|human)"
            ),
        ),
        (0.4, r"\b(?:person|user) you are (?:talking|speaking|helping)"),
        (0.3, r"\bas if nothing (?:had )?happened|\bwithout asking\b"),
        (0.2, r"\bsilently\b|\bnever mention\b"),
        (
            0.55,
            (
                rf"{_USER_JA}に(?:は|も)?[^。]{{0,8}}?(?:知らせ|伝え|気付かれ|気づかれ|言わ|告げ|知られ)"
                r"(?:ず|ない|ること?な)"
            ),
        ),
        (0.5, rf"{_USER_JA}に(?:は|も)?[^。]{{0,12}}秘密に(?:して|すること|せよ|しろ)"),
        (0.3, r"何もなかった(?:よう|か)|確認(?:せず|なし)"),
        (0.2, r"(?:決して|事実に|一切)(?:は)?触れ(?:ない|ず)"),
    ),
}

CUES: tuple[Cue, ...] = tuple(
    Cue(reason, weight, re.compile(pattern))
    for reason, written in _WRITTEN.items()
    for weight, pattern in written
)

JAPANESE: tuple[Cue, ...] = tuple(cue for cue in CUES if cue.japanese)
LATIN: tuple[Cue, ...] = tuple(cue for cue in CUES if not cue.japanese)

HIDING: tuple[Cue, ...] = tuple(
    Cue("hidden", weight, re.compile(pattern))
    for weight, pattern in (
        (0.3, "(?<=\\w)[\u200b\u2060\ufeff](?=\\w)"),
        (0.3, "[\u202d\u202e]"),
        (0.7, "(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0020-\U000e007e]{2}"),
        (0.2, r"<!--|\[//\]: ?#"),
        (
            0.35,
            (
                r"(?i)(?:display: ?none|visibility: ?hidden|font-size: ?0|opacity: ?0"
                r"|color[=:] ?[\"']?(?:white|#fff))"
            ),
        ),
    )
)
"""Patterns over the original text: ways to hide words from people."""

REPORTING = re.compile(
    r"\battack|\binject|\bmalicious|\badversar|\bjailbreak|\bred team|\bresearchers?\b|\bindicator"
    "|攻撃|インジェクション|注入|悪意|脱獄|兆候|検証班|報告してください"
)
"""Words of sentences about attacks."""
