import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PagedOutput } from '../../src/cli/pager.js'
import { ttyStyled } from '../../src/cli/terminal.js'
import { type CliHome, cliHome, KCHAT, KS, plainEnv } from '../helpers/cli.js'
import { CONTROL_CHARACTERS, HOSTILE } from '../helpers/hostile-service.js'
import { hasTerminal, runInTerminal } from '../helpers/terminal.js'

const GUARD = pathToFileURL(`${process.cwd()}/dist/cli/guard-output.js`).href
const WRITER = pathToFileURL(`${process.cwd()}/dist/cli/terminal-writer.js`).href

let home: CliHome
beforeAll(() => {
  home = cliHome()
})
afterAll(() => home.end())

/** The command line of a program that calls `guardOutput` and then runs some statements. */
function program(name: string, body: string): string {
  const path = join(home.dir, `${name}.mjs`)
  const head = `import { guardOutput } from '${GUARD}'\nimport * as writer from '${WRITER}'\nguardOutput('test')\n`
  writeFileSync(path, `${head}const hostile = ${JSON.stringify(HOSTILE)}\n${body}\n`)
  return `'${process.execPath}' '${path}'`
}

/** Without line ends, which a terminal changes. */
const withoutLineEnds = (raw: string) => raw.replaceAll('\r\n', '\n')

describe('A73: output to a terminal', () => {
  it.skipIf(!hasTerminal)(
    'shows control sequences as text, from any writer of the process, as text or as bytes',
    async () => {
      const writers = [
        'process.stdout.write(hostile)',
        'process.stderr.write(hostile)',
        'console.log(hostile)',
        'console.error(hostile)',
        'process.stdout.write(Buffer.from(hostile))',
        "for (const byte of Buffer.from('\u009b1m \u202e')) process.stdout.write(Buffer.from([byte]))",
        'writer.writeOut(hostile)',
        'writer.writeErr(hostile)',
        "writer.createFrameStream(process.stdout).write('\\u001b[2K\\u001b[1A' + 'frame' + hostile + 'end')",
      ]
      for (const [n, body] of writers.entries()) {
        const { raw, code } = await runInTerminal(program(`writer-${n}`, body), { cwd: home.dir, env: home.env })
        expect(code, raw).toBe(0)
        const text = withoutLineEnds(raw).replace('\u001b[2K\u001b[1A', '')
        expect([body, CONTROL_CHARACTERS.exec(text)?.[0]]).toEqual([body, undefined])
        expect(text).toContain(n === 5 ? '<U+009B>' : '^[]0;owned^G')
      }
    },
  )

  it.skipIf(!hasTerminal)('keeps colours and cursor movements that the program writes itself', async () => {
    const body =
      "process.stdout.write('\u001b[31mred\u001b[39m\u001b[2Jx\u001b[8mhidden'); writer.writeControls(process.stdout, '\u001b[2K')"
    const { raw } = await runInTerminal(program('colours', body), { cwd: home.dir, env: home.env })
    expect(raw).toBe('\u001b[31mred\u001b[39m^[[2Jx^[[8mhidden\u001b[2K')
  })

  it('stays unchanged in a pipe', async () => {
    const run = execa('sh', ['-c', program('pipe', 'process.stdout.write(hostile); console.error(hostile)')], {
      env: plainEnv(),
      extendEnv: false,
      stripFinalNewline: false,
    })
    expect(await run).toMatchObject({ stdout: HOSTILE, stderr: `${HOSTILE}\n` })
  })

  it('contains escaped control sequences in a pager, too', async () => {
    const file = join(home.dir, 'paged')
    const stdout = Object.assign(new PassThrough(), { rows: 5, columns: 80 }) as unknown as NodeJS.WriteStream
    const out = new PagedOutput(`cat > '${file}'`, stdout)
    for (let n = 0; n < 10; n++) out.write(`\u001b[2m${n}\u001b[22m ${HOSTILE}\n`)
    await out.end()
    const { stdout: paged } = await execa('cat', [file])
    expect(paged).toContain('\u001b[2m9\u001b[22m bad^[]0;owned^G')
    expect(CONTROL_CHARACTERS.exec(paged.replaceAll(/\u001b\[(?:2|22)m/g, ''))).toBeNull()
  })

  it('keeps styles that cannot hide text, and escapes all further sequences', () => {
    expect(ttyStyled('\u001b[1;36mx\u001b[0m\u001b[m')).toBe('\u001b[1;36mx\u001b[0m\u001b[m')
    for (const code of ['8', '5', '41', '1;8', '38;5;1', '31;'])
      expect(ttyStyled(`\u001b[${code}m`)).toBe(`^[[${code}m`)
  })
})

/** Text for a notebook: BEL, colours, titles, the clipboard, device control, C1, an overwritten line. */
const PLANTED =
  'The tide guild meets at noon \u0007 in the \u001b[31mharbour\u001b[0m office \u001b]0;EVIL\u0007 and \u001b]52;c;ZXZpbA==\u0007 \u001bP1$qx\u001b\\ \u009b31m \u202e \u001b[2J rtl.\rX'

describe.skipIf(!hasTerminal)('A73: a document with control sequences', { timeout: 300_000 }, () => {
  it('shows the sequences as text in ks and kchat, with and without a pager', async () => {
    const cell = { cell_type: 'markdown', metadata: {}, source: ['# Tide guild\n', '\n', `${PLANTED}\n`] }
    home.file('in/tide.ipynb', JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }))
    const asked = 'When does the tide guild meet in the harbour?'
    const done = async (args: string[]) => {
      const { code, stdout, stderr } = await home.ks(args)
      expect(code, `${args.join(' ')}: ${stderr}`).toBe(0)
      return stdout
    }
    await done(['spaces', 'create', 'Tide', '--slug', 'tide'])
    await done(['ingest', 'in', '--space', 'tide', '--wait'])
    await done(['research', 'start', asked, '--space', 'tide', '--wait', '--json'])
    const trace = JSON.parse(await done(['query', asked, '--space', 'tide', '--json'])) as { traceId: string }
    const doc = (JSON.parse(await done(['docs', 'list', '--space', 'tide', '--json'])) as { id: string }[])[0]?.id ?? ''
    expect((await home.kchat(['apps', 'create', 'Desk', '--space', 'tide', '--instructions', PLANTED])).code).toBe(0)
    const [research] = JSON.parse(await done(['research', '--space', 'tide', '--json'])) as { id: string }[]
    const ks = `'${process.execPath}' '${KS}'`
    const lines = [
      `${ks} research show ${research?.id} --report`,
      `${ks} research show ${research?.id} --report --jq .text`,
      `${ks} research show ${research?.id} --report --template '{{text}}'`,
      `${ks} research show ${research?.id}`,
      `${ks} docs show ${doc} --space tide`,
      `${ks} fs cat /sources/in/tide.ipynb --space tide || ${ks} fs tree / --space tide`,
      `${ks} fs grep noon / --space tide`,
      `${ks} query '${asked}' --space tide`,
      `${ks} search '${asked}' --space tide`,
      `${ks} search '${asked}' --space tide --json`,
      `${ks} golden --space tide; ${ks} conflicts --space tide`,
      `${ks} traces show ${trace.traceId}`,
      `'${process.execPath}' '${KCHAT}' apps show Desk`,
      `'${process.execPath}' '${KCHAT}' apps show Desk --jq .instructions`,
    ]
    let shown = 0
    for (const line of lines)
      for (const pager of ['', "sed ''"]) {
        const { raw } = await runInTerminal(line, { cwd: home.dir, env: { ...home.env, KS_PAGER: pager } })
        const text = withoutLineEnds(raw).replaceAll(/\u001b\[(?:1|2|22|3[0-9])m/g, '')
        const found = CONTROL_CHARACTERS.exec(text)
        expect([
          line,
          found === null ? '' : JSON.stringify(text.slice(Math.max(0, found.index - 60), found.index + 20)),
        ]).toEqual([line, ''])
        if (/\^\[\]0;EVIL|\\u001b\]0;EVIL/.test(text.replaceAll('\n', ''))) shown++
      }
    // Most commands print the text of the document.
    expect(shown).toBeGreaterThanOrEqual(lines.length)
  })
})
