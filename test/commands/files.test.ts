import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome, KS } from '../helpers/cli.js'
import { hasTerminal, runInTerminal } from '../helpers/terminal.js'

const home = cliHome()
const UPLOADS = '/sources/uploads/notes'

beforeAll(async () => {
  home.file('notes/alpha.md', 'Alpha\n\nThe Needle is here.\n\nthird line with a needle and a needle\n')
  home.file('notes/beta.txt', 'one needle\ntwo\nthree\nfour\nfive\nsix needles\n')
  home.file('notes/ops/vpn.md', 'Restart the tunnel.\n\nThen call Ada.\n')
  home.file('notes/ops/[draft] plan.md', 'Nothing yet.\n')
  const done = await home.ks(['ingest', 'notes', '--wait', '--space', 'notes', '--create'])
  expect(done, done.stderr).toMatchObject({ code: 0 })
})
afterAll(() => home.end())

/** Prints of a command that must succeed. */
async function shown(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await home.ks(args)
  expect([code, stderr], args.join(' ')).toEqual([0, ''])
  return stdout.replaceAll(UPLOADS, '')
}
const grep = (...args: string[]) => shown('fs', 'grep', ...args)
const sh = (script: string) => shown('fs', 'sh', script)

describe('ks fs grep', () => {
  it('searches the documents without a path, and prints path:line:column:text', async () => {
    expect(await grep('needle')).toBe(
      '/alpha.md:5:19:third line with a needle and a needle\n/beta.txt:1:5:one needle\n/beta.txt:6:5:six needles\n',
    )
  })

  it('takes patterns and flags of rg', async () => {
    expect(await grep('-i', 'NEEDLE is')).toBe('/alpha.md:3:5:The Needle is here.\n')
    expect(await grep('-S', 'needle is')).toBe('/alpha.md:3:5:The Needle is here.\n')
    expect(await grep('-w', 'needles?', `${UPLOADS}/beta.txt`)).toBe(
      '/beta.txt:1:5:one needle\n/beta.txt:6:5:six needles\n',
    )
    expect(await grep('-w', 'needle', `${UPLOADS}/beta.txt`)).toBe('/beta.txt:1:5:one needle\n')
    expect(await grep('-F', 'tunnel.')).toBe('/ops/vpn.md:1:13:Restart the tunnel.\n')
    expect(await grep('-e', 'Ada', '-e', '^two$')).toBe('/beta.txt:2:1:two\n/ops/vpn.md:3:11:Then call Ada.\n')
    expect(await grep('-o', 'need[a-z]+', '-g', 'alpha.*')).toBe('/alpha.md:5:19:needle\n/alpha.md:5:32:needle\n')
    expect(await grep('-v', 'e', '-g', '*.txt')).toBe('/beta.txt:2:1:two\n/beta.txt:4:1:four\n')
    expect(await grep('-m', '1', 'needle', '--no-column')).toBe(
      '/alpha.md:5:third line with a needle and a needle\n/beta.txt:1:one needle\n',
    )
    expect(await grep('-l', 'needle')).toBe('/alpha.md\n/beta.txt\n')
    expect(await grep('-c', 'needle')).toBe('/alpha.md:1\n/beta.txt:2\n')
    expect(await grep('-l', 'needle', '--glob', '!*.md')).toBe('/beta.txt\n')
    expect(await grep('-n', 'Ada', '--no-line-number')).toBe('/ops/vpn.md:Then call Ada.\n')
  })

  it('prints lines around matches with -, each once, and -- between groups', async () => {
    expect(await grep('-C', '1', 'needle', `${UPLOADS}/beta.txt`)).toBe(
      '/beta.txt:1:5:one needle\n/beta.txt-2-two\n--\n/beta.txt-5-five\n/beta.txt:6:5:six needles\n',
    )
    expect(await grep('-B1', '-A1', 'two|three', `${UPLOADS}/beta.txt`)).toBe(
      '/beta.txt-1-one needle\n/beta.txt:2:1:two\n/beta.txt:3:1:three\n/beta.txt-4-four\n',
    )
    expect(await grep('-A1', 'Alpha|Restart')).toBe(
      '/alpha.md:1:1:Alpha\n/alpha.md-2-\n--\n/ops/vpn.md:1:1:Restart the tunnel.\n/ops/vpn.md-2-\n',
    )
  })

  it('takes several paths, the root and wildcards', async () => {
    expect(await grep('-l', 'needle|Ada', `${UPLOADS}/ops`, `${UPLOADS}/*.txt`)).toBe('/ops/vpn.md\n/beta.txt\n')
    const { stdout: everywhere } = await home.ks(['fs', 'grep', 'Ada', '/'])
    expect(everywhere).toContain('/ops/vpn.md:3:11:Then call Ada.\n')
    expect(everywhere).toContain('/knowledge/documents/vpn.md/')
  })

  it('prints one object for each line with --json, and fields with --fields', async () => {
    const [first, ...rest] = JSON.parse(await grep('needle', '--json', '-A1'))
    expect(rest).toHaveLength(2)
    expect(first).toMatchObject({
      kind: 'segment',
      line: 5,
      column: 19,
      text: 'third line with a needle and a needle',
      spans: [
        { start: 18, end: 24 },
        { start: 31, end: 37 },
      ],
    })
    expect(await grep('needle', '--fields', 'line,column')).toBe('5\t19\n1\t5\n6\t5\n')
    expect(JSON.parse(await grep('-c', 'needle', '--jq', '[.[].count]'))).toEqual([1, 2])
  })

  it('exits with 1 without a match, and with 2 and a reason for a malformed pattern or wrong use', async () => {
    expect(await home.ks(['fs', 'grep', 'nothing like it'])).toEqual({ code: 1, stdout: '', stderr: '', signal: null })
    expect(await home.ks(['fs', 'grep', 'nothing', '--json'])).toMatchObject({ code: 1, stdout: '[]\n' })
    for (const pattern of ['(', '(?=a)b', 'a{1000}{1000}']) {
      const { code, stdout, stderr } = await home.ks(['fs', 'grep', pattern])
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^ks: the pattern must be an expression of .*\nhint: `-F` searches/s)
    }
    expect(await home.ks(['fs', 'grep'])).toMatchObject({
      code: 2,
      stderr: 'ks: `ks fs grep` needs PATTERN\nhint: `ks fs grep --help`\n',
    })
    expect((await home.ks(['fs', 'grep', 'x', '-C', '101'])).code).toBe(2)
    expect((await home.ks(['fs', 'grep', 'x', '-l', '-c'])).code).toBe(2)
    expect((await home.ks(['fs', 'grep', 'x', '--nosuch'])).code).toBe(2)
  })

  it.skipIf(!hasTerminal)('shows coloured headings, line numbers and matches at a terminal', async () => {
    const line = `'${process.execPath}' '${KS}' fs grep -F needles --color`
    const { raw } = await runInTerminal(line, { columns: 100, env: home.env, cwd: home.dir })
    expect(raw).toContain(`\u001b[35m${UPLOADS}/beta.txt\u001b[39m`)
    expect(raw).toContain('\u001b[32m6\u001b[39m:5:six \u001b[31mneedles\u001b[39m')
  })
})

describe('paths of ks fs', () => {
  it('default to the root in ls and tree', async () => {
    expect(await shown('fs', 'ls')).toBe('/sources\n/knowledge\n/evidence\n/workspaces\n')
    expect(await shown('fs', 'ls', '/')).toBe(await shown('fs', 'ls'))
    const { stdout: tree } = await home.ks(['fs', 'tree', '--format', 'table'])
    expect(tree).toMatch(/^\/\n.*sources\/\n/)
    expect(tree).toContain('vpn.md')
    expect(JSON.parse(await shown('fs', 'tree', '--depth', '1', '--json')).root.children).toHaveLength(4)
  })

  it('may be relative and have wildcards', async () => {
    expect(await shown('fs', 'ls', 'sources/./uploads//notes/ops/../ops/')).toBe('/ops/[draft] plan.md\n/ops/vpn.md\n')
    expect(await shown('fs', 'ls', `${UPLOADS}/*.{md,txt}`)).toBe('/alpha.md\n/beta.txt\n')
    expect(await shown('fs', 'cat', '/sources/**/v*.md')).toBe('Restart the tunnel.\n\nThen call Ada.')
    expect(await shown('fs', 'find', '--name', '*.md')).toBe('/alpha.md\n/ops/[draft] plan.md\n/ops/vpn.md\n')
    expect(await shown('fs', 'find', `${UPLOADS}/o*`, '--name', 'vp')).toBe('/ops/vpn.md\n')
    expect(await shown('fs', 'find', '--name', '*.md', '--limit', '3')).toBe(
      await shown('fs', 'find', '--name', '*.md'),
    )
    expect((await home.ks(['fs', 'find', '--name', '*.md', '--limit', '2'])).stderr).toBe('more: `--all`\n')
  })

  it('that exist are read as they are, also with wildcards in their names', async () => {
    expect(await shown('fs', 'cat', `${UPLOADS}/ops/[draft] plan.md`)).toBe('Nothing yet.')
  })

  it('show sizes and times with ls -l', async () => {
    const [line] = JSON.parse(await shown('fs', 'ls', '-l', `${UPLOADS}/beta.txt`, '--json'))
    expect(line.metadata.sizeBytes).toBe(43)
    expect(await shown('fs', 'ls', '-l', `${UPLOADS}/beta.txt`)).toMatch(/^resource\t43\t\S+\t\/beta\.txt\n$/)
  })

  it('that are missing lead to an error with the nearest folder and name', async () => {
    for (const command of ['ls', 'cat', 'tree', 'find'])
      expect(await home.ks(['fs', command, `${UPLOADS}/opps/vpn.md`])).toMatchObject({
        code: 5,
        stdout: '',
        stderr: `ks: no path "${UPLOADS}/opps/vpn.md": "${UPLOADS}" contains no "opps"\nhint: the most similar name there is \`${UPLOADS}/ops\`\n`,
      })
    expect(await home.ks(['fs', 'grep', 'x', `${UPLOADS}/bta.txt`])).toMatchObject({ code: 5 })
    expect(await home.ks(['fs', 'ls', '/source/uploads'])).toMatchObject({
      code: 2,
      stderr: 'ks: there is no folder "/source"\nhint: did you mean `/sources/uploads`?\n',
    })
    const { code, stderr } = await home.ks(['fs', 'cat', `${UPLOADS}/*.pdf`])
    expect([code, stderr]).toEqual([
      5,
      `ks: no path matches "${UPLOADS}/*.pdf"\nhint: \`ks fs find ${UPLOADS}\` lists what there is\n`,
    ])
  })
})

describe('ks fs sh', () => {
  it('runs pipes of find, grep and head', async () => {
    expect(await sh("find /sources -name '*.md' | grep ops | head -1")).toBe('/ops/[draft] plan.md\n')
    expect(await sh('find /sources -type f -iname "*.TXT" -o -type d -name ops | sort -r')).toBe('/ops\n/beta.txt\n')
    expect(await sh('grep -rl needle /sources | xargs wc -l | tail -n 1')).toBe('11 total\n')
    expect(await sh(`cat ${UPLOADS}/beta.txt | grep -n -C1 six; cd ${UPLOADS}/ops && pwd && ls -F`)).toBe(
      '5-five\n6:six needles\n/ops\n[draft] plan.md\nvpn.md\n',
    )
    expect(await sh('ls /')).toBe('sources\nknowledge\nevidence\nworkspaces\n')
    expect(await sh('tree -L 1 /sources')).toContain('uploads/')
  })

  it('offers the usual text commands', async () => {
    const file = `${UPLOADS}/beta.txt`
    expect(await sh(`sed -n '2,3p' ${file}`)).toBe('two\nthree\n')
    expect(await sh(`tail -n +5 ${file} | cut -d ' ' -f 1 | sort | uniq -c`)).toBe('      1 five\n      1 six\n')
    expect(await sh(`head -n 2 ${file} | wc`)).toBe('2 3 15\n')
    expect(await sh(`grep -c needle ${file}; grep -o 'need[a-z]*' ${file} | sort -u`)).toBe('2\nneedle\nneedles\n')
    expect(await sh(`echo b a | cat -n; true`)).toBe('     1\tb a\n')
    expect(await sh(`grep 'one\\|six' ${file} | grep -v one`)).toBe('six needles\n')
    expect(await sh("echo foobar | grep -w 'foo\\|foobar'")).toBe('foobar\n')
    expect(await sh(`rg 'two|four' ${file}`)).toBe('2:two\n4:four\n')
    expect(await sh(`find ${UPLOADS} -name '*plan*' | xargs cat`)).toBe('Nothing yet.\n')
    expect(await sh(`head -n 1 ${UPLOADS}/*.txt ${UPLOADS}/alpha.md`)).toBe(
      '==> /beta.txt <==\none needle\n==> /alpha.md <==\nAlpha\n',
    )
  })

  it('ends with the status of the last command, and reports the command that failed', async () => {
    expect(await home.ks(['fs', 'sh', 'grep -r nothing-like-it /sources'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: '',
    })
    expect(await home.ks(['fs', 'sh', `grep x ${UPLOADS}/nope || echo none`])).toMatchObject({
      code: 0,
      stdout: 'none\n',
      stderr: `grep: no path "${UPLOADS}/nope": "${UPLOADS}" contains no "nope"\n`,
    })
    expect(await home.ks(['fs', 'sh', `cat ${UPLOADS}/nope ${UPLOADS}/ops/vpn.md 2>/dev/null`])).toMatchObject({
      code: 1,
      stdout: 'Restart the tunnel.\n\nThen call Ada.\n',
      stderr: '',
    })
    expect(
      JSON.parse((await home.ks(['fs', 'sh', 'echo a; grep -q needle /sources/uploads', '--json'])).stdout),
    ).toEqual({
      exitCode: 0,
      lines: ['a'],
    })
  })

  it('refuses other programs, redirections and unknown options before anything runs', async () => {
    for (const [script, reason] of [
      ['echo started; curl http://127.0.0.1/', '"curl" is not available; commands are ls, find, tree'],
      ['echo started; rm /workspaces/a', '"rm" is not available'],
      ['echo started > /workspaces/a', 'redirections are not available'],
      ['echo $HOME', 'variables and substitutions are not available'],
    ] as const) {
      const { code, stdout, stderr } = await home.ks(['fs', 'sh', script])
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain(reason)
    }
    expect(await home.ks(['fs', 'sh', 'wc -x /sources'])).toMatchObject({
      code: 2,
      stderr: 'wc: unknown option -x; known are -l -w -c -m\n',
    })
  })

  it('stops after its time', async () => {
    const { code, stderr } = await home.ks(['fs', 'sh', 'find / | xargs -n1 grep -r e', '--timeout', '1ms'])
    expect([code === 0, stderr === '']).toEqual([false, false])
  })
})
