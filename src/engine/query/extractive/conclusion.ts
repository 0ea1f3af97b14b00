/** Words with which authors say what they found, in place of what was known or how they went about it. */
const FOUND =
  /\b(?:in conclusion|conclusions?|we (?:conclude|found|find|show|showed|demonstrate|demonstrated|report|identified|observed|propose|provide)|(?:our |these |the |this )?(?:results?|findings?|data|study|studies|analysis|evidence|observations?) (?:\p{L}+ ){0,2}(?:shows?|showed|suggests?|suggested|indicates?|indicated|demonstrates?|demonstrated|reveals?|revealed|supports?|supported|provides?|establish(?:es)?|identif(?:y|ies)|confirm(?:s|ed)?)|thus|therefore|taken together|overall|in summary|hence|significantly|was associated|were associated|is associated)\b|结果表明|结果显示|研究表明|因此|总之|综上|(?<!\p{L})(?:Ergebnisse? zeig|wir zeigen|zusammenfassend|insgesamt|nous montrons|en conclusion|les résultats|los resultados|concluimos|en resumen)/iu
/** Words with which they say what was known, what is open, or what they set out to do. */
const BACKGROUND =
  /\b(?:background|objectives?|aims?|purpose|introduction|methods?|design|setting)\s*[:.]|\b(?:little is known|is (?:unknown|unclear|poorly understood)|remains? (?:\p{L}+ )?(?:unclear|unknown|controversial|elusive)|we (?:investigated|examined|aimed|sought|tested|assessed|asked|studied|evaluated|hypothesi[sz]ed)|to (?:determine|investigate|examine|assess|evaluate|test) (?:whether|if|the)|has been (?:suggested|proposed|hypothesi[sz]ed)|was to)\b|目的|背景/iu

/** 1 for a sentence that concludes, -1 for one that tells the background, else 0. */
export function conclusionSign(sentence: string): -1 | 0 | 1 {
  if (FOUND.test(sentence)) return 1
  return BACKGROUND.test(sentence) ? -1 : 0
}
