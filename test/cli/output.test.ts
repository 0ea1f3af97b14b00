import { execaSync } from 'execa'
import { describe, expect, it } from 'vitest'
import { formatMachineCell } from '../../src/cli/columns.js'
import { readOutputFields } from '../../src/cli/json-output/fields.js'
import { Output, type OutputOptions } from '../../src/cli/output.js'
import { drawTree } from '../../src/cli/tree.js'

/** A stream that records what is written to it. */
function sink(isTTY: boolean, columns = 100) {
  const written: string[] = []
  const stream = {
    isTTY,
    columns,
    write: (text: string) => {
      written.push(text)
      return true
    },
  }
  return { stream, text: () => written.join(''), written }
}

function output(options: Partial<OutputOptions> = {}, isTTY = false, env: NodeJS.ProcessEnv = { LANG: 'C.UTF-8' }) {
  const [out, err] = [sink(isTTY), sink(isTTY)]
  const all: OutputOptions = { header: true, truncate: true, quiet: false, ...options }
  return { out, err, output: new Output(all, { out: out.stream, err: err.stream, env: { NO_COLOR: '1', ...env } }) }
}

const columns = [
  { field: 'name' },
  { field: 'size', kind: 'bytes' as const },
  { field: 'id', kind: 'id' as const },
  { field: 'deep.value', title: 'DEEP' },
]
const items = [
  { name: 'one', size: 2048, id: '018f22aa-0000-7000-8000-0000a1b2c3d4', deep: { value: 'x' } },
  { name: 'two\tthree\n', size: 5, id: '018f22aa-0000-7000-8000-0000ffffffff', deep: {} },
]
const list = { columns, empty: 'Nothing yet.', hint: 'make one' }

describe('a list that a command prints', () => {
  it('prints a table with short ids and sizes on a terminal', async () => {
    const { out, output: shown } = output({}, true)
    await shown.list(items, list)
    expect(out.text()).toBe(
      [
        'NAME          SIZE  ID         DEEP',
        'one        2.0 KiB  #a1b2c3d4  x',
        'two three      5 B  #ffffffff',
        '',
      ].join('\n'),
    )
    expect([...shown.shortenedIds]).toEqual(items.map((item) => item.id))
  })

  it('prints one line of complete values for each item into a pipe, without a header', async () => {
    const { out, output: shown } = output()
    await shown.list(items, list)
    expect(out.text()).toBe(
      'one\t2048\t018f22aa-0000-7000-8000-0000a1b2c3d4\tx\ntwo\\tthree\\n\t5\t018f22aa-0000-7000-8000-0000ffffffff\t\n',
    )
  })

  it('prints a JSON array, or one object a line as items arrive', async () => {
    const json = output({ format: 'json' })
    await json.output.list(items, list)
    expect(JSON.parse(json.out.text())).toEqual(items)
    const lines = output({ format: 'jsonl' })
    await lines.output.list(items, list)
    expect(lines.out.written.map((line) => JSON.parse(line))).toEqual(items)
  })

  it('without entries prints an empty array as JSON, and a hint on stderr for people', async () => {
    const json = output({ format: 'json' })
    await json.output.list([], list)
    expect([json.out.text(), json.err.text()]).toEqual(['[]\n', ''])
    const people = output({}, true)
    await people.output.list([], list)
    expect([people.out.text(), people.err.text()]).toEqual(['', 'Nothing yet.\nhint: make one\n'])
  })

  it('prints the requested fields in their order, in every format', async () => {
    const fields = ['deep.value', 'name']
    const json = output({ format: 'json', fields })
    await json.output.list(items.slice(0, 1), list)
    expect(json.out.text()).toBe('[{"deep.value":"x","name":"one"}]\n')
    const tsv = output({ fields })
    await tsv.output.list(items.slice(0, 1), list)
    expect(tsv.out.text()).toBe('x\tone\n')
  })

  it('refuses an unknown field with a list of all fields, without a schema', async () => {
    const wrong = output({ fields: ['nam'] }).output.list(items, list)
    await expect(wrong).rejects.toMatchObject({
      message: 'unknown field "nam"',
      hint: 'fields are name, size, id, deep.value, deep',
      exit: 2,
    })
  })

  it('prints null for a field that an item lacks, wherever it first occurs', async () => {
    const rows = [{ name: 'one' }, { name: 'two', note: 'x' }]
    const list = { columns: [{ field: 'name' }], empty: '' }
    for (const [format, text] of [
      ['json', '[{"note":null},{"note":"x"}]\n'],
      ['jsonl', '{"note":null}\n{"note":"x"}\n'],
      ['tsv', '\nx\n'],
    ] as const) {
      const { out, output: shown } = output({ format, fields: ['note'] })
      await shown.list(rows, list)
      expect(out.text()).toBe(text)
    }
  })

  it('accepts fields of the schema that no item has, and refuses others', async () => {
    const withFields = (fields: string[], command = 'docs') => {
      const loadFields = async (sample: unknown) => readOutputFields(command, sample)
      const out = sink(false)
      const options = { header: true, truncate: true, quiet: false, format: 'json' as const, fields }
      return { out, shown: new Output(options, { out: out.stream, err: sink(false).stream, env: {}, loadFields }) }
    }
    const list = { columns: [{ field: 'name' }], empty: '' }
    const optional = withFields(['sourceId', 'metadata.anything'])
    await optional.shown.list([{ name: 'one' }], list)
    expect(optional.out.text()).toBe('[{"sourceId":null,"metadata.anything":null}]\n')
    const wrong = withFields(['sourceIdd'])
    await expect(wrong.shown.list([], list)).rejects.toMatchObject({
      message: 'unknown field "sourceIdd"',
      hint: expect.stringContaining('sourceId'),
      exit: 2,
    })
    const record = withFields(['health.components.jobs'], 'daemon')
    record.shown.record({ ok: true })
    await record.shown.end()
    expect(record.out.text()).toBe('{"health.components.jobs":null}\n')
    const wrongRecord = withFields(['component'], 'daemon')
    wrongRecord.shown.record({ ok: true })
    await expect(wrongRecord.shown.end()).rejects.toMatchObject({ message: 'unknown field "component"' })
    expect(wrongRecord.out.text()).toBe('')
  })

  it('selects the fields of each item of a list that a command prints at once', () => {
    const { out, output: shown } = output({ format: 'json', fields: ['status', 'reason'] })
    shown.json([{ status: 'published' }, { status: 'failed', reason: 'empty' }])
    expect(out.text()).toBe('[{"status":"published","reason":null},{"status":"failed","reason":"empty"}]\n')
  })

  it('shows complete ids if nothing is to be truncated', async () => {
    const { out, output: shown } = output({ truncate: false }, true)
    await shown.list(items, list)
    expect(out.text()).toContain('018f22aa-0000-7000-8000-0000a1b2c3d4')
  })

  it('truncates its widest column to the width of the terminal', async () => {
    const out = sink(true, 40)
    const options = { header: false, truncate: true, quiet: false }
    const shown = new Output(options, {
      out: out.stream,
      err: sink(false).stream,
      env: { LANG: 'C.UTF-8', NO_COLOR: '1' },
    })
    await shown.list([{ a: 'x'.repeat(80), b: 'kept' }], { columns: [{ field: 'a' }, { field: 'b' }], empty: '' })
    expect(out.text()).toBe(`${'x'.repeat(33)}…  kept\n`)
  })

  it('escapes control sequences of an item', async () => {
    for (const format of ['table', 'tsv', 'json', 'jsonl'] as const) {
      const { out, output: shown } = output({ format }, true)
      await shown.list([{ name: '\u001b[2Jx\u009b1m' }], { columns: [{ field: 'name' }], empty: '' })
      expect(out.text()).not.toMatch(/[\u001b\u009b]/)
    }
  })
})

describe('a record that a command prints', () => {
  it('shows field names in lower case, even those with a title in capitals', () => {
    const people = output({}, true)
    people.output.record(
      { name: 'x', deep: { value: 1 } },
      { columns: [{ field: 'name' }, { field: 'deep.value', title: 'DEEP' }] },
    )
    expect(people.out.text()).toBe('name  x\ndeep  1\n')
  })

  it('prints a line for each field, aligned for people and tab-separated for pipes', () => {
    const people = output({}, true)
    people.output.record({ a: 1, bcd: { e: 'x' }, none: null })
    expect(people.out.text()).toBe('a      1\nbcd.e  x\n')
    const pipe = output()
    pipe.output.record({ a: 1, bcd: { e: 'x' } })
    expect(pipe.out.text()).toBe('a\t1\nbcd.e\tx\n')
  })
})

describe('notes and warnings', () => {
  it('go to stderr; quiet suppresses notes, but not warnings', () => {
    const { out, err, output: shown } = output({ quiet: true })
    shown.note('hm')
    shown.warn('oh')
    expect([out.text(), err.text()]).toEqual(['', 'oh\n'])
  })
})

describe('marked ranges of prose', () => {
  const text = 'Lit in 1908.\n- The Tern\n- The Gull'
  const marks = [
    { start: 7, end: 11 },
    { start: 13, end: text.length },
  ]
  const shown = (options: Partial<OutputOptions>, isTTY: boolean) => {
    const { out, output: made } = output(options, isTTY)
    made.prose(text, marks)
    made.endProse()
    return out.text()
  }

  it('appear in bold on a terminal with colours; list markers within them do not', () => {
    expect(shown({ colour: true }, true)).toBe(
      'Lit in \u001b[1m1908\u001b[22m.\n- \u001b[1mThe Tern\u001b[22m\n- \u001b[1mThe Gull\u001b[22m',
    )
  })

  it('change nothing on a terminal without colours and in a pipe', () => {
    expect(shown({}, true)).toBe(text)
    expect(shown({ colour: true }, false)).toBe(text)
  })

  it('show control characters of a document escaped', () => {
    const { out, output: made } = output({ colour: true }, true)
    made.prose('a\u001b[2Jb', [{ start: 1, end: 5 }])
    expect(out.text()).toBe('a\u001b[1m^[[2J\u001b[22mb')
  })
})

describe('a tree that a command prints', () => {
  it('uses line characters that fit the locale', () => {
    const nodes = [
      { n: 'a', c: [{ n: 'b', c: [] }] },
      { n: 'd', c: [] },
    ]
    type Node = { n: string; c: Node[] }
    const draw = (unicode: boolean) =>
      drawTree<Node>(nodes, { label: (node) => node.n, children: (node) => node.c, unicode })
    expect(draw(true)).toEqual(['├── a', '│   └── b', '└── d'])
    expect(draw(false)).toEqual(['|-- a', '|   `-- b', '`-- d'])
  })
})

describe('a cell of tsv', () => {
  it('cannot be a formula in a spreadsheet, and keeps its value for a shell', () => {
    const formulas = ['=HYPERLINK("https://evil.example")', '+1+cmd', '-2+3', '@SUM(A1)', '＝1', '=\tx']
    for (const text of formulas) expect(formatMachineCell(text)).toMatch(/^\\/)
    for (const text of ['-5', '+3,5', '1.2e-3', 'a=b', '2026-01-01', '']) expect(formatMachineCell(text)).toBe(text)
    expect(formatMachineCell(-5)).toBe('-5')
    for (const text of [...formulas, 'C:\\x', '@scope/a.md']) {
      const read = execaSync('sh', ['-c', 'IFS= read line; printf %s "$line"'], {
        input: `${formatMachineCell(text)}\n`,
        stripFinalNewline: false,
        reject: false,
      })
      expect(read.stdout).toBe(text.replaceAll('\t', 't'))
    }
  })
})
