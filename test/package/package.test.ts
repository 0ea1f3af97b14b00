import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { execa, execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeXlsx } from '../engine/readers/office.js'
import { makePdf, makeScan, sheetOf } from '../engine/readers/render/make-pdf.js'
import { type Found, filesOf, holding, type Installed, packAndInstall, ROOT } from './installed.js'

const MB = 1024 * 1024
/** limit of the issue and the README for the size on disk */
const MAX_INSTALLED = 120 * MB
/** may grow by code, but not by an unnoticed dependency */
const MAX_PACKED = 30 * MB
/** limit of one package; larger ones are named in docs/install.md */
const NOTED = 2 * MB

const hasDpkg = !execaSync('dpkg-deb', ['--version'], { reject: false }).failed
if (!hasDpkg) process.stdout.write('no Debian package is made: dpkg-deb is not installed\n')

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
let package_: Installed
let files: Found[] = []

beforeAll(async () => {
  package_ = await packAndInstall()
  files = filesOf(package_.folder)
}, 300_000)
afterAll(() => package_?.end())

/** Relative to the folder of the package. */
const place = ({ path }: Found) => relative(package_.folder, path)

describe('the package', () => {
  it('needs no further packages and no install scripts, and names the system of its binaries', () => {
    const outer = JSON.parse(readFileSync(join(package_.folder, 'package.json'), 'utf8'))
    expect(outer).toMatchObject({ version: manifest.version, os: [process.platform], cpu: [process.arch] })
    expect(outer.engines.node).toContain(`<${Number(process.versions.node.split('.')[0]) + 1}`)
    for (const name of ['scripts', 'dependencies', 'optionalDependencies', 'devDependencies', 'private'])
      expect(outer).not.toHaveProperty(name)
    expect(package_.said).toContain('added 1 package ')
  })

  it('leaves the checkout from which it is built unchanged', () => {
    expect(readFileSync(join(package_.checkout, 'package.json'))).toEqual(readFileSync(join(ROOT, 'package.json')))
    for (const name of ['packed', 'THIRD-PARTY-NOTICES.md', 'dist/.package.json'])
      expect([name, existsSync(join(package_.checkout, name))]).toEqual([name, false])
  })

  it('stays within its size limits, and docs/install.md names its large parts', () => {
    expect(statSync(package_.tarball).size).toBeLessThan(MAX_PACKED)
    expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(MAX_INSTALLED)
    const sizes = new Map<string, number>()
    for (const file of files) {
      const name = /^packed\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(place(file))?.[1]
      if (name !== undefined) sizes.set(name, (sizes.get(name) ?? 0) + file.bytes)
    }
    const page = readFileSync(join(ROOT, 'docs', 'install.md'), 'utf8')
    const large = [...sizes].filter(([name, bytes]) => bytes > NOTED && !page.includes(`| \`${name}\` |`))
    expect(large).toEqual([])
  })

  it('contains no source maps, types, tests, C sources or paths of the build machine', () => {
    const kinds = /\.(map|ts|tsx|tsbuildinfo|cc|cpp|h)$|(^|\/)(test|tests|__tests__|bench)\//
    expect(files.map(place).filter((path) => kinds.test(path))).toEqual([])
    for (const path of [ROOT, package_.checkout]) expect(holding(files, path)).toEqual([])
  })

  it('lists every contained package with its licence', () => {
    const notices = readFileSync(join(package_.folder, 'THIRD-PARTY-NOTICES.md'), 'utf8')
    const folders = files.flatMap(
      (file) => /^packed\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(place(file))?.[1] ?? [],
    )
    // hono has no folder there: its code is in a bundle.
    const missing = [...new Set([...folders, 'hono'])].filter((name) => !notices.includes(`\n- ${name} `))
    expect(missing).toEqual([])
    expect(existsSync(join(package_.folder, 'LICENSE'))).toBe(true)
    expect(notices).toContain('SQLite (in better-sqlite3): in the public domain')
  })
})

describe('the installed package', () => {
  it('provides ks, kchat and ksd, a manual page for each command, and completion', async () => {
    const { stdout, code } = await package_.run('ks', '--version')
    expect([stdout, code]).toEqual([`ks ${manifest.version}\n`, 0])
    expect((await package_.run('kchat', '--version')).stdout).toBe(`kchat ${manifest.version}\n`)
    expect((await package_.run('ksd', '--version')).stdout).toBe(`${manifest.version}\n`)
    const { commands }: { commands: Record<string, { hidden?: boolean }> } = JSON.parse(
      readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'),
    )
    const wanted = Object.entries(commands).filter(([, { hidden }]) => hidden !== true)
    const pages = ['ks', 'ksd', 'kchat', ...wanted.map(([id]) => `ks-${id.replaceAll(':', '-')}`)].map(
      (name) => `${name}.1`,
    )
    expect(readdirSync(join(package_.prefix, 'share', 'man', 'man1')).sort()).toEqual(pages.sort())
    expect((await package_.run('ks', 'completion', 'bash')).stdout).toContain('_ks()')
    expect((await package_.run('kchat', 'completion', 'zsh')).stdout).toContain('#compdef kchat')
  })

  it('passes the checks of `ks doctor`', async () => {
    const { stdout } = await package_.run('ks', 'doctor', '--json')
    const findings: { check: string; state: string; found: string }[] = JSON.parse(stdout)
    const states = Object.fromEntries(findings.map(({ check, state }) => [check, state]))
    expect(states).toMatchObject({ node: 'ok', 'better-sqlite3': 'ok', 'hnswlib-node': 'ok' })
    if (process.platform === 'linux' && process.arch === 'x64')
      expect(findings.find(({ check }) => check === 'text index')).toMatchObject({ found: 'Tantivy' })
  })

  it('ingests a folder, answers with a citation, chats, and stops its daemon', async () => {
    await package_.write('handbook/shop.md', '# Shop\n\nThe shop opens at nine in the morning on weekdays.\n')
    await package_.write('handbook/laden.md', '# Laden\n\nDie Werkstatt schließt am Freitag um drei Uhr.\n')
    const ferry = [sheetOf(['Ferry', '', 'The ferry to Port Ellery leaves at seven in the evening.'])]
    await package_.write('handbook/ferry.pdf', makePdf(ferry))
    const ingested = await package_.run('ks', 'ingest', 'handbook', '--wait')
    expect([ingested.code, ingested.stderr]).toEqual([0, expect.not.stringContaining('failed')])
    const asked = await package_.run('ks', 'query', 'When does the shop open?', '--space', 'handbook')
    expect(asked.stdout).toMatch(
      /^\[1\] handbook\/shop\.md › Shop\n\nThe shop opens at nine in the morning on weekdays\.\n\n +\[1\] handbook\/shop\.md/,
    )
    const german = await package_.run('ks', 'query', 'Wann schließt die Werkstatt?', '--space', 'handbook')
    expect(german.stdout).toContain('[1] handbook/laden.md › Laden\n\nDie Werkstatt schließt am Freitag um drei Uhr.\n')
    const pdf = await package_.run('ks', 'query', 'When does the ferry leave?', '--space', 'handbook')
    expect(pdf.stdout).toMatch(/^\[1\] handbook\/ferry\.pdf.*, p\. 1\n\n.*seven in the evening\.\n/)
    expect((await package_.run('kchat', 'apps', 'create', 'Handbook', '--space', 'handbook')).code).toBe(0)
    const said = await package_.run('kchat', 'send', 'When does the shop open?')
    const shown = '[1] handbook/shop.md › Shop\n\nThe shop opens at nine in the morning on weekdays.\n'
    expect([said.code, said.stdout]).toEqual([0, shown])
    expect((await package_.run('ks', 'daemon', 'stop')).stdout).toMatch(/^stopped: pid \d+/)
  })

  it('reads a scan and a workbook with the readers that it contains', async () => {
    await package_.write('scan.pdf', await makeScan([sheetOf(['The museum of Port Ellery opens at nine.'])]))
    await package_.write('hours.xlsx', makeXlsx([{ name: 'Hours', rows: '<row r="1"><c r="A1"><v>42</v></c></row>' }]))
    const scan = await package_.run('ks', 'read', 'scan.pdf')
    expect([scan.code, scan.stdout]).toEqual([0, expect.stringContaining('opens at nine')])
    expect((await package_.run('ks', 'read', 'hours.xlsx')).stdout).toContain('42')
  })

  it('prints the install command for a language, with the prefix of the package', async () => {
    const { stderr } = await package_.run('ks', 'doctor', '--languages')
    expect(stderr).toContain(`npm install --prefix ${package_.folder} @tesseract.js-data/CODE`)
  })

  it.skipIf(!hasDpkg)('becomes a Debian package with programs, manual pages, completion and a unit', async () => {
    const out = join(package_.home, 'deb')
    const script = join(package_.checkout, 'scripts/package/deb.js')
    const made = await execa(process.execPath, [script, '--tarball', package_.tarball, '--out', out])
    const file = made.stdout.trim()
    const field = async (name: string) => (await execa('dpkg-deb', ['--field', file, name])).stdout
    expect(await field('Version')).toBe(manifest.version)
    expect(await field('Depends')).toMatch(/^nodejs \(>= 20\.20/)
    const root = join(package_.home, 'root')
    await execa('dpkg-deb', ['--extract', file, root])
    const env = { PATH: process.env.PATH ?? '', HOME: package_.home }
    const run = (program: string, ...args: string[]) =>
      execa(join(root, 'usr/bin', program), args, { env, extendEnv: false, cwd: package_.home })
    expect((await run('ks', '--version')).stdout).toContain(manifest.version)
    expect((await run('ksd', '--version')).stdout).toContain(manifest.version)
    expect((await run('ks', 'read', join(ROOT, 'README.md'))).stdout).toContain('Knowledge Spaces')
    expect(readFileSync(join(root, 'usr/lib/systemd/user/ksd.service'), 'utf8')).toMatch(
      /^ExecStart=\/usr\/bin\/node .*\/usr\/lib\/knowledge-spaces\/bin\/ksd\.js --mode service --data-dir %h\/\.local\/share\/ks/m,
    )
    for (const path of [
      'usr/share/man/man1/ks-query.1.gz',
      'usr/share/bash-completion/completions/ks',
      'usr/share/zsh/vendor-completions/_kchat',
      'usr/share/fish/vendor_completions.d/ks.fish',
      'usr/share/doc/knowledge-spaces/copyright',
    ])
      expect([path, existsSync(join(root, path))]).toEqual([path, true])
  })

  it('gets a Homebrew formula and a Scoop manifest with the hash of its file', async () => {
    const out = join(package_.home, 'manifests')
    const script = join(package_.checkout, 'scripts/package/manifests.js')
    const url = `https://kb.example.com/knowledge-spaces-${manifest.version}.tgz`
    await execa(process.execPath, [script, '--tarball', package_.tarball, '--url', url, '--out', out])
    const sha256 = createHash('sha256').update(readFileSync(package_.tarball)).digest('hex')
    const formula = readFileSync(join(out, 'knowledge-spaces.rb'), 'utf8')
    expect(formula).toContain(`  url "${url}"\n  version "${manifest.version}"\n  sha256 "${sha256}"\n`)
    expect(JSON.parse(readFileSync(join(out, 'knowledge-spaces.json'), 'utf8'))).toMatchObject({
      version: manifest.version,
      hash: sha256,
      bin: ['ks.cmd', 'kchat.cmd', 'ksd.cmd'],
    })
  })

  it('refuses to start under another Node version, with the reason', async () => {
    const path = join(package_.folder, 'packed', 'package.json')
    const text = readFileSync(path, 'utf8')
    const inner = JSON.parse(text)
    try {
      writeFileSync(path, JSON.stringify({ ...inner, madeFor: { ...inner.madeFor, abi: '1', node: 'v1.2.3' } }))
      const { code, stderr } = await package_.run('ksd', '--data-dir', join(package_.home, 'other'))
      expect([code, stderr]).toEqual([
        9,
        expect.stringMatching(/^ksd: this package was made for .* with Node v1\.2\.3/),
      ])
    } finally {
      writeFileSync(path, text)
    }
  })
})

it('manual pages are well-formed for `man` and `mandoc`, where these are installed', async () => {
  const folder = join(ROOT, 'dist', 'man')
  const pages = readdirSync(folder).map((name) => join(folder, name))
  expect(pages.length).toBeGreaterThan(80)
  const run = async (program: string, ...args: string[]) => {
    const env = { MANPAGER: 'cat', MANWIDTH: '80' }
    const { stdout, stderr } = await execa(program, args, { env, reject: false })
    return { stdout: stdout ?? '', stderr: stderr ?? '' }
  }
  // On some systems `man` shows nothing.
  if (/^man \d/.test((await run('man', '--version')).stdout)) {
    const shown = await run('man', '--warnings', '-l', join(folder, 'ks-query.1'))
    expect(shown).toEqual({ stdout: expect.stringContaining('--require-evidence'), stderr: '' })
  }
  // No error of the checker, and no warning except that pages have no date.
  const checked = await run('mandoc', '-Tlint', '-Wwarning', ...pages)
  const lines = checked.stdout.split('\n').filter((line) => line !== '')
  expect(lines.filter((line) => !line.includes('missing date'))).toEqual([])
})
