/** Kinds of groups, by the use of their text. */
export type RtfGroupKind =
  | 'body'
  | 'fonts'
  | 'styles'
  | 'info'
  | 'title'
  | 'author'
  | 'marker'
  | 'note'
  | 'remark'
  | 'by'
  | 'picture'
  | 'name'
  | 'value'
  | 'margin'
  | 'skip'

/** The text of a group while it is read. */
export interface RtfGroupText {
  kind: RtfGroupKind
  text: string
  role?: string
  /** Of a picture: whether its type has pixels, and its description. */
  isPixels?: boolean
  alt?: string
}

/** The state within a group. */
export interface RtfState {
  sink: RtfGroupText
  page: number
  /** Number of characters after `\u` for readers without Unicode. */
  fallback: number
  hidden: boolean
  inTable: boolean
  style: number
  outline: number | undefined
  bold: boolean
  italic: boolean
  underlined: boolean
  /** In half points. */
  size: number
}

/** Control words that open a group with a separate text. */
export const DESTINATIONS: ReadonlyMap<string, RtfGroupKind> = new Map<string, RtfGroupKind>([
  ['fonttbl', 'fonts'],
  ['stylesheet', 'styles'],
  ['info', 'info'],
  ['title', 'title'],
  ['author', 'author'],
  ['listtext', 'marker'],
  ['pntext', 'marker'],
  ['footnote', 'note'],
  ['annotation', 'remark'],
  ['atnauthor', 'by'],
  ['pict', 'picture'],
  ['sn', 'name'],
  ['sv', 'value'],
  ...'header headerl headerr headerf footer footerl footerr footerf'
    .split(' ')
    .map((word) => [word, 'margin'] as const),
  ...(
    'colortbl objdata fldinst nonshppict pn xe tc atnid atndate atnref atnparent atnicn atntime nonesttables ' +
    'themedata listtable listoverridetable private bkmkstart bkmkend mmathPict ftnsep ftnsepc'
  )
    .split(' ')
    .map((word) => [word, 'skip'] as const),
])

/** Groups marked as "ignore when unknown" that contain text to keep. */
export const KEPT_GROUPS = new Set(['shpinst', 'shptxt', 'listtext', 'pntext', 'shppict', 'picprop'])

/** Control words and signs that represent characters. */
export const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['tab', '\t'],
  ['line', '\n'],
  ['softline', '\n'],
  ['emdash', '—'],
  ['endash', '–'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['qmspace', ' '],
  ['bullet', '•'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['~', '\u00a0'],
  ['_', '-'],
])

/**
 * Code pages by the charset of a font (RTF 1.9.1, `\fcharset`); fonts with another charset use the code page of the
 * file.
 */
export const CHARSET_PAGES: ReadonlyMap<number, number> = new Map([
  [77, 10000],
  [128, 932],
  [129, 949],
  [130, 1361],
  [134, 936],
  [136, 950],
  [161, 1253],
  [162, 1254],
  [163, 1258],
  [177, 1255],
  [178, 1256],
  [186, 1257],
  [204, 1251],
  [222, 874],
  [238, 1250],
  [255, 437],
])

/** Control words that set the code page of the file in place of `\ansicpg`. */
export const FILE_PAGES: ReadonlyMap<string, number> = new Map([
  ['mac', 10000],
  ['pc', 437],
  ['pca', 850],
])

/** The heading level for `\outlinelevel`, which counts from 0 and has 9 for text; 0 for text. */
export function toHeadingLevel(outline: number): number {
  return outline >= 0 && outline < 9 ? outline + 1 : 0
}

/** The heading level of a style, by its name (up to a semicolon) or its outline level; 0 for text. */
export function toStyleLevel(name: string, outline: number | undefined): number {
  const normalized = name.replace(/;.*$/s, '').trim().toLowerCase()
  const level = normalized === 'title' ? 1 : Number(/^heading ([1-9])$/.exec(normalized)?.[1] ?? 0)
  return level > 0 || outline === undefined ? level : toHeadingLevel(outline)
}
