import { describe, expect, it } from 'vitest'
import { readMarkup } from '../../../src/engine/readers/markup/markup-events.js'
import { MathTree } from '../../../src/engine/readers/math/math-tree.js'
import { convertMathml } from '../../../src/engine/readers/math/mathml.js'
import { convertOmml } from '../../../src/engine/readers/math/omml.js'

function parse(xml: string): MathTree {
  const tree = new MathTree('root')
  readMarkup(xml, tree, 'xml')
  return tree
}
const omml = (xml: string) => convertOmml(parse(xml).root)
const mathml = (xml: string) => convertMathml(parse(xml).root)
const r = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`
const e = (xml: string) => `<m:e>${xml}</m:e>`

describe('a formula in Office Math Markup', () => {
  const cases: readonly (readonly [name: string, xml: string, text: string, latex: string])[] = [
    [
      'a fraction',
      `<m:f><m:num>${r('profit')}</m:num><m:den>${r('a+b')}</m:den></m:f>`,
      'profit/(a+b)',
      '\\frac{\\mathrm{profit}}{a+b}',
    ],
    [
      'scripts',
      `<m:sSubSup>${e(r('x'))}<m:sub>${r('i')}</m:sub><m:sup>${r('n+1')}</m:sup></m:sSubSup>`,
      'x_i^(n+1)',
      'x_{i}^{n+1}',
    ],
    ['a root', `<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>${e(r('2x'))}</m:rad>`, '√2x', '\\sqrt{2x}'],
    ['a cube root', `<m:rad><m:deg>${r('3')}</m:deg>${e(r('x'))}</m:rad>`, '∛x', '\\sqrt[3]{x}'],
    [
      'a sum',
      `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${r('i=1')}</m:sub><m:sup>${r('n')}</m:sup>${e(r('i'))}</m:nary>`,
      '∑_(i=1)^n i',
      '\\sum_{i=1}^{n} i',
    ],
    [
      'brackets',
      `<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>${e(r('a'))}${e(r('b'))}</m:d>`,
      '[a|b]',
      '\\left[a | b\\right]',
    ],
    [
      'a matrix',
      `<m:m><m:mr>${e(r('1'))}${e(r('2'))}</m:mr><m:mr>${e(r('3'))}${e(r('4'))}</m:mr></m:m>`,
      '[1, 2; 3, 4]',
      '\\begin{matrix}1 & 2 \\\\ 3 & 4\\end{matrix}',
    ],
    ['a function', `<m:func><m:fName>${r('sin')}</m:fName>${e(r('α'))}</m:func>`, 'sin α', '\\sin \\alpha'],
    ['an accent', `<m:acc><m:accPr><m:chr m:val="⃗"/></m:accPr>${e(r('v'))}</m:acc>`, 'v', '\\vec{v}'],
    ['words', `<m:r><m:rPr><m:nor/></m:rPr><m:t>if it rains</m:t></m:r>`, 'if it rains', '\\text{if it rains}'],
    ['a deletion', `${r('a')}<w:del>${r('b')}</w:del>`, 'a', 'a'],
  ]
  it.each(cases)('becomes one readable line, and LaTeX: %s', (_name, xml, text, latex) => {
    expect(omml(`<m:oMath>${xml}</m:oMath>`)).toEqual({ text, latex })
  })

  it('keeps the text of formulas that are nested too deep or have too many parts', () => {
    const deep = `${'<m:box><m:e>'.repeat(5000)}${r('inmost')}${'</m:e></m:box>'.repeat(5000)}`
    expect(() => omml(deep)).not.toThrow()
    expect(omml(r('x').repeat(30_000)).text.length).toBeGreaterThan(1000)
  })
})

describe('a formula in MathML', () => {
  it('becomes one readable line, and LaTeX: its own one where it states one', () => {
    expect(mathml('<math><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math>')).toEqual({
      text: 'a/(b+1)',
      latex: '\\frac{a}{b+1}',
    })
    expect(
      mathml('<math><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><msub><mi>x</mi><mi>i</mi></msub></math>'),
    ).toEqual({
      text: '∑_i^nx_i',
      latex: '\\sum_{i}^{n}x_{i}',
    })
    const stated =
      '<semantics><msqrt><mi>x</mi></msqrt><annotation encoding="application/x-tex">\\sqrt x</annotation></semantics>'
    expect(mathml(stated)).toEqual({ text: '√x', latex: '\\sqrt x' })
  })
})
