import { describe, expect, it } from 'vitest'
import { FsReader } from '../../../src/cli/fs/reader.js'
import { parseOptions } from '../../../src/cli/fs/shell/options.js'
import { parseScript } from '../../../src/cli/fs/shell/parse.js'
import { runScript } from '../../../src/cli/fs/shell/shell.js'
import { compileWildcards } from '../../../src/cli/fs/wildcards.js'
import { Client } from '../../../src/client/client.js'

const words = (script: string) =>
  parseScript(script).map(({ condition, commands }) => [
    condition,
    commands.map((command) => command.words.map(({ text }) => text)),
  ])

describe('a script of ks fs sh', () => {
  it('consists of pipelines with conditions', () => {
    expect(words("find . -name '*.md' | head -20; cat a && wc -l b || echo no\n\npwd\n")).toEqual([
      [
        ';',
        [
          ['find', '.', '-name', '*.md'],
          ['head', '-20'],
        ],
      ],
      [';', [['cat', 'a']]],
      ['&&', [['wc', '-l', 'b']]],
      ['||', [['echo', 'no']]],
      [';', [['pwd']]],
    ])
    expect(words('cat a |\n wc # lines')).toEqual([[';', [['cat', 'a'], ['wc']]]])
  })

  it('quotes words as in sh', () => {
    expect(words(`grep "a \\"b\\" $" 'c d'e\\ f ''`)).toEqual([[';', [['grep', 'a "b" $', 'c de f', '']]]])
  })

  it('keeps quoted wildcards apart from patterns', () => {
    const [pipeline] = parseScript(`ls *.md '*.md' "a*"b? \\*`)
    expect(pipeline?.commands[0]?.words.map(({ pattern }) => pattern)).toEqual([
      undefined,
      '*.md',
      undefined,
      'a\\*b?',
      undefined,
    ])
  })

  it('drops messages with 2>/dev/null', () => {
    const [pipeline] = parseScript('cat a 2>/dev/null | wc -l')
    expect(pipeline?.commands.map(({ isSilent }) => isSilent)).toEqual([true, false])
  })

  it.each([
    ['cat a > b', 'redirections'],
    ['cat < a', 'redirections'],
    ['cat a 2>&1', 'redirections'],
    ['cat a >> b', 'redirections'],
    ['echo $HOME', 'variables and substitutions'],
    ['echo "$(ls)"', 'variables and substitutions'],
    ['echo `ls`', 'variables and substitutions'],
    ['(ls)', '"("'],
    ['ls &', '"&"'],
    ['ls |', 'a command is missing'],
    ['ls | | wc', 'a command is missing'],
    ['ls &&', 'a command is missing'],
    ['; ls', 'a command is missing'],
    ['', 'no command'],
    ["cat 'a", 'not closed'],
  ])('%j is refused with a reason', (script, reason) => {
    expect(() => parseScript(script)).toThrow(reason)
  })
})

describe('the limits of ks fs sh', () => {
  const run = async (script: string, timeoutMs: number) => {
    const lines: string[] = []
    const client = new Client({ url: 'http://127.0.0.1:9' })
    const reader = new FsReader({ client, spaceId: 'none', report: (reply) => reply })
    await runScript(script, {
      reader,
      write: (line) => lines.push(line),
      report: (line) => lines.push(line),
      timeoutMs,
    })
    return lines
  }

  it('stop a script after its time, and one with too many commands before it starts', async () => {
    expect(await run('echo a', 60_000)).toEqual(['a'])
    await expect(run('echo a', -1000)).rejects.toThrow('the script was stopped after -1 s')
    await expect(run('echo a;'.repeat(101), 60_000)).rejects.toThrow('101 commands; the maximum is 100')
    await expect(run(`echo ${'a'.repeat(70_000)}`, 60_000)).rejects.toThrow('the maximum is 65536')
  })

  it('keep a hostile pattern in a pipe linear', async () => {
    expect(await run(`echo ${'a'.repeat(30_000)} | grep -E '^(a+)+$' | grep -cE '(a|a)*b'`, 60_000)).toEqual(['0'])
  })
})

describe('options of a command of ks fs sh', () => {
  it('may be bundled, follow arguments and have long names', () => {
    const { has, value, rest } = parseOptions('grep', ['-rin', 'x', '-A3', 'y', '--include=*.md', '--', '-z'], {
      flags: 'rin',
      values: 'Ag',
      long: { include: 'g' },
    })
    expect([has('r'), has('i'), has('n'), value('A'), value('g'), rest]).toEqual([
      true,
      true,
      true,
      '3',
      '*.md',
      ['x', 'y', '-z'],
    ])
  })

  it('that do not exist are refused with the known ones', () => {
    expect(() => parseOptions('wc', ['-x'], { flags: 'lw' })).toThrow('wc: unknown option -x; known are -l -w')
    expect(() => parseOptions('head', ['-n'], { flags: '', values: 'n' })).toThrow('head: -n needs a value')
  })
})

describe('a pattern of file names', () => {
  it.each([
    ['*.md', 'a.md', true],
    ['*.md', 'a/b.md', false],
    ['/sources/**/*.md', '/sources/a/b/c.md', true],
    ['/sources/**/*.md', '/sources/c.md', true],
    ['?[0-9].{md,txt}', 'a7.txt', true],
    ['?[!0-9].{md,txt}', 'a7.txt', false],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'aXb', false],
    ['a.b', 'aXb', false],
    ['[', '[', true],
    ['😀?', '😀x', true],
    ['*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(1000), false],
  ])('%j on %j matches as in a shell', async (pattern, name, expected) => {
    expect((await compileWildcards(pattern))(name)).toBe(expected)
  })
})
