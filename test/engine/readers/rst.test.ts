import { describe, expect, it } from 'vitest'
import type { CompiledDocument } from '../../../src/engine/store/compiled.js'
import { read } from './read.js'

function shown({ elements }: CompiledDocument): string[] {
  return elements.map(({ type, text }) => `${type}: ${text}`)
}

function tableOf({ elements }: CompiledDocument): Record<string, unknown> {
  const table = elements.find(({ type }) => type === 'table')
  return { text: table?.text, ...table?.metadata }
}

describe('tables of reStructuredText', () => {
  it('keep the head and the cells over several rows and columns of a grid', async () => {
    const source = `
+------------+------------+-----------+
| Header 1   | Header 2   | Header 3  |
+============+============+===========+
| body row 1 | column 2   | column 3  |
+------------+------------+-----------+
| body row 2 | Cells may span columns.|
+------------+------------+-----------+
| body row 3 | Cells may  | - Cells   |
+------------+ span rows. | - contain |
| body row 4 |            | - blocks. |
+------------+------------+-----------+
`
    expect(tableOf(await read('a.rst', source))).toMatchObject({
      text: 'Header 1 | Header 2 | Header 3\nbody row 1 | column 2 | column 3\nbody row 2 | Cells may span columns.\nbody row 3 | Cells may span rows. | Cells contain blocks.\nbody row 4',
      headerRows: 1,
      spans: [
        { row: 2, column: 1, rows: 1, columns: 2 },
        { row: 3, column: 1, rows: 2, columns: 1 },
        { row: 3, column: 2, rows: 2, columns: 1 },
      ],
    })
  })

  it('take drawings and bars in the cells of a grid as text', async () => {
    const source =
      '+-----------+---+\n| a  +--+   | b |\n|    |x |   |   |\n|    +--+   |   |\n+-----------+---+\n| c | d + e | f |\n+-----------+---+\n'
    expect(tableOf(await read('a.rst', source)).columnCount).toBe(2)
  })

  it('align columns of double width in a grid', async () => {
    const source = '+----+------+\n| 名 | 東京 |\n+----+------+\n| a  | b    |\n+----+------+\n'
    expect(tableOf(await read('a.rst', source)).text).toBe('名 | 東京\na | b')
  })

  it('have continued rows, column spans and a head without grid', async () => {
    const source = `
=====  =====  ======
   Inputs     Output
------------  ------
  A      B    A or B
=====  =====  ======
False  False  False
True   False  True
              again
\\      x      y
=====  =====  ======
`
    expect(tableOf(await read('a.rst', source))).toMatchObject({
      text: 'Inputs |  | Output\nA | B | A or B\nFalse | False | False\nTrue | False | True again\n | x | y',
      headerRows: 2,
      spans: [{ row: 0, column: 0, rows: 1, columns: 2 }],
    })
  })

  it('come from directives with lists and with values separated by commas, with their captions', async () => {
    const source = `
.. list-table:: Frozen *delights*
   :header-rows: 1

   * - Treat
     - Quantity
   * - Albatross
     - 2.99

.. csv-table:: Prices
   :header: "Name", "Price, net"
   :widths: 15, 10

   "Crunchy, \`\`frog\`\`", 1.49
   Gannet, "two
   lines"
`
    expect(shown(await read('a.rst', source))).toEqual([
      'table: Treat | Quantity\nAlbatross | 2.99',
      'table: Name | Price, net\nCrunchy, frog | 1.49\nGannet | two lines',
    ])
    const { elements } = await read('a.rst', source)
    expect(elements.map(({ metadata }) => [metadata.caption, metadata.headerRows])).toEqual([
      ['Frozen delights', 1],
      ['Prices', 1],
    ])
  })

  it('stay as code where their borders do not fit together', async () => {
    const document = await read('a.rst', '+---+---+\n| a | b |\n+---+--+\n\nText.\n')
    expect(document.text).toContain('| a | b |')
    expect(document.text).toContain('Text.')
  })

  it('within cells are separate tables, too', async () => {
    const source =
      '+---------------+---+\n| +---+---+     | b |\n| | 1 | 2 |     |   |\n| +---+---+     |   |\n+---------------+---+\n'
    expect(shown(await read('a.rst', source))).toEqual(['table: 1 2 | b', 'table: 1 | 2'])
  })
})

describe('reStructuredText', () => {
  it('gives every construct that carries text, and names what it cannot read', async () => {
    const source = `
=====
Title
=====

:Author: Ann Lee
:Date: 2024-05-01

Section
-------

A paragraph with *emphasis*, **strong**, \`\`literal \\ text\`\`, \`title reference\`, :math:\`\\alpha\`, a
\`link <https://example.org>\`_, reference_, |sub|, a footnote [#f]_ and [CIT2002]_; 2*3 and snake_case_name.

term : classifier
    Definition text.

-a file, --all=file  Option text.
/V                   Another option.

| Line block one
| line two

    Quoted words.

    -- Attribution

>>> print('doctest')
doctest

1. first

   second paragraph

   #. nested
#. next

.. note:: Note text.

.. admonition:: Custom title

   Custom text.

.. code-block:: python

   print("code")

.. figure:: quay.png
   :alt: Alternative text

   Caption text.

   Legend text.

.. function:: send(message)
   :noindex:

   Function text.

.. raw:: html

   <p>Raw words</p>

.. raw:: latex

   \\textbf{latex}

.. include:: other.rst
.. |sub| replace:: substituted
.. _reference: https://example.org
.. [#f] Footnote text.
.. [CIT2002] Citation text.
.. A comment.

Literal::

  indented literal

Quoted::

> quoted literal
`
    const document = await read('a.rst', source)
    expect(shown(document)).toEqual([
      'title: Title',
      'list: Author: Ann Lee\nDate: 2024-05-01',
      'heading: Section',
      'paragraph: A paragraph with emphasis, strong, literal \\ text, title reference, \\alpha, a link, reference, substituted, a footnote [1] and [CIT2002]; 2*3 and snake_case_name.',
      'list: term : classifier: Definition text.',
      'list: - -a file, --all=file: Option text.\n- /V: Another option.',
      'paragraph: Line block one\nline two',
      'paragraph: Quoted words.',
      'paragraph: -- Attribution',
      "code: >>> print('doctest')\ndoctest",
      'list: 1. first\n  second paragraph\n  1. nested\n2. next',
      'paragraph: Note text.',
      'paragraph: Custom title',
      'paragraph: Custom text.',
      'code: print("code")',
      'image: Alternative text',
      'paragraph: Caption text.',
      'paragraph: Legend text.',
      'paragraph: send(message)',
      'paragraph: Function text.',
      'paragraph: Raw words',
      'paragraph: [1] Footnote text.',
      'paragraph: [CIT2002] Citation text.',
      'paragraph: Literal:',
      'code: indented literal',
      'paragraph: Quoted:',
      'code: > quoted literal',
    ])
    expect(document.metadata).toMatchObject({
      authors: ['Ann Lee'],
      warnings: ['not followed: raw latex, other.rst'],
    })
  })

  it('numbers footnotes as docutils does, and keeps names that are no references', async () => {
    const document = await read(
      'a.rst',
      'One [#]_, two [#b]_, three [2]_, star [*]_.\n\n.. [#] a\n.. [#b] b\n.. [2] c\n.. [*] d\n',
    )
    expect(shown(document)).toEqual([
      'paragraph: One [1], two [3], three [2], star [*].',
      'paragraph: [1] a',
      'paragraph: [3] b',
      'paragraph: [2] c',
      'paragraph: [*] d',
    ])
  })

  it('reads deeply nested quotes and endless markup in bounded time', async () => {
    const deep = Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth)}a${depth}`).join('\n\n')
    expect((await read('a.rst', deep)).text).toContain('a499')
    expect((await read('b.rst', '`a '.repeat(50_000))).text).toContain('a')
    expect((await read('c.rst', `${`+${'-+'.repeat(2000)}\n`.repeat(200)}\nText.\n`)).text).toContain('Text.')
  })
})
