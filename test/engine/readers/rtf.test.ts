import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failureOf, read } from './read.js'

const seen = async (body: string): Promise<unknown[]> =>
  (await read('a.rtf', Buffer.from(`{\\rtf1\\ansi\\ansicpg1252 ${body}}`, 'latin1'))).elements.map((element) => [
    element.type,
    element.text,
  ])

describe('the reading of RTF', () => {
  it('gives headings by outline level and by style, lists, tables and notes', async () => {
    const styles = '{\\stylesheet{\\s0 Normal;}{\\s3\\outlinelevel1 Kapitel;}{\\s7 heading 3;}{\\*\\cs9 Strong;}}'
    const body = `${styles}{\\info{\\title The letter}{\\author Jo}}{\\header Our firm\\par}
{\\pard\\outlinelevel0\\b Top\\par}
\\pard One \\b bold\\b0  word{\\footnote\\pard A note.\\par} here.\\line Next\\par
\\pard\\s3 Second\\par\\pard\\s7 Third\\par
\\pard{\\pntext 1.\\tab}first\\par{\\listtext\\'b7\\tab}second\\par
\\pard\\trowd\\intbl Name\\cell Count\\cell\\row\\trowd\\intbl Nuts\\par and bolts\\cell 5\\cell\\row
\\pard End{\\v hidden}{\\pict\\pngblip 89504e47}{\\field{\\*\\fldinst HYPERLINK "x"}{\\fldrslt link}}.`
    const document = await read('a.rtf', `{\\rtf1\\ansi ${body}}`)
    expect([document.mediaType, document.title, document.metadata.author]).toEqual([
      'application/rtf',
      'The letter',
      'Jo',
    ])
    expect(document.elements.map((element) => [element.type, element.metadata.level, element.text])).toEqual([
      ['heading', 1, 'Top'],
      ['paragraph', undefined, 'One bold word here.\nNext'],
      ['paragraph', undefined, 'A note.'],
      ['heading', 2, 'Second'],
      ['heading', 3, 'Third'],
      ['list', undefined, '1. first\n- second'],
      ['table', undefined, 'Name | Count\nNuts and bolts | 5'],
      ['paragraph', undefined, 'Endlink.'],
      ['image', undefined, undefined],
      ['paragraph', undefined, 'Our firm'],
    ])
  })

  it('decodes Unicode with its fallback characters, and code pages of file and fonts', async () => {
    expect(
      await seen("caf\\'e9 \\u8364? \\uc2\\u19990ab\\uc0\\u30028 x \\u-10179 \\u-8704 \\emdash\\~\\{\\}\\\\"),
    ).toEqual([['paragraph', 'café € 世界x 😀— {}\\']])
    const fonts = '{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204 Cyr;}{\\f2\\fcharset128 MS Mincho;}}'
    expect(await seen(`${fonts}{\\f1\\'cf\\'f0}{\\f2\\'93\\'fa\\'96{\\f2\\'7b}} {\\f2\\'83A}\\f0\\'fc`)).toEqual([
      ['paragraph', expect.stringMatching(/^Пр日.* アü$/)],
    ])
    expect(await seen("\\mac \\'8a")).toEqual([['paragraph', 'ä']])
  })

  it('skips binary data, objects and unknown destinations', async () => {
    expect(
      await seen(
        'a{\\*\\secret no}{\\object{\\*\\objdata 0102}{\\result shown}}\\bin4 }}}}b\\par{\\*\\shppict{\\pict 00}}c',
      ),
    ).toEqual([
      ['paragraph', 'ashownb'],
      ['paragraph', 'c'],
    ])
    expect((await failureOf(read('blank.rtf', '{\\rtf1\\par }'))).code).toBe('empty')
  })

  it('gives a document or a read error for random and deep markup', async () => {
    const piece = fc.constantFrom(
      ..."{|}|\\par |\\cell |\\row |\\trowd |\\intbl |\\pard |{\\footnote |{\\header |{\\fonttbl |{\\stylesheet |\\s1 |\\*|\\u-99999 |\\u12345 |\\uc-1 |\\uc9999 |\\bin-5 |\\bin3 |\\'|\\'zz|\\'ff|\\|text|\\f99 |{\\listtext |\\ansicpg99999 |{\\info{\\title |\\v |\\plain ".split(
        '|',
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), fc.uint8Array({ maxLength: 30 }), async (pieces, noise) => {
        const bytes = Buffer.concat([Buffer.from(`{\\rtf1 ${pieces.join('')}`, 'latin1'), noise])
        const outcome = await read('any.rtf', bytes).then(
          (document) => document.mediaType,
          (error: unknown) => (error instanceof Error ? error.name : 'other'),
        )
        expect(['ReadError', 'application/rtf']).toContain(outcome)
      }),
      { numRuns: 300 },
    )
    for (const part of ['{', '}', '{\\footnote x', '\\cell ', '\\par x', "\\'e9", '\\u233?', '{\\*\\a', '{\\s1 x;}']) {
      await read('big.rtf', `{\\rtf1 x ${part.repeat(200_000)}`).catch((error: unknown) =>
        expect(error).toHaveProperty('code'),
      )
    }
  })
})
