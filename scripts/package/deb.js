/**
 * `npm run package:deb`: makes a Debian package of a package of npm: programs, manual pages, completion for three shells
 * and a unit for the user's systemd. `--tarball FILE` uses an existing package, `--out FOLDER` another folder than this.
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { execaSync } from 'execa'
import { listFiles, ROOT } from '../build.js'

const PROGRAMS = ['ks', 'kchat', 'ksd']
const ROOT_FOLDER = 'usr/lib/knowledge-spaces'
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }
const COMPLETIONS = [
  { shell: 'bash', path: (program) => `usr/share/bash-completion/completions/${program}` },
  { shell: 'zsh', path: (program) => `usr/share/zsh/vendor-completions/_${program}` },
  { shell: 'fish', path: (program) => `usr/share/fish/vendor_completions.d/${program}.fish` },
]

const { values } = parseArgs({ options: { tarball: { type: 'string' }, out: { type: 'string', default: '.' } } })
const work = mkdtempSync(join(tmpdir(), 'ks-deb-'))
try {
  if (execaSync('dpkg-deb', ['--version'], { reject: false }).failed)
    throw new Error('dpkg-deb is not installed: a Debian package is made on Debian or Ubuntu')
  const tarball = values.tarball === undefined ? packWithNpm() : resolve(values.tarball)
  execaSync('tar', ['-xzf', tarball, '-C', work])
  process.stdout.write(`${await build(join(work, 'package'), join(work, 'tree'), resolve(values.out))}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
} finally {
  rmSync(work, { recursive: true, force: true })
}

function packWithNpm() {
  const { stdout } = execaSync('npm', ['pack', '--json', '--pack-destination', work], { cwd: ROOT, stderr: 'inherit' })
  return join(work, JSON.parse(stdout)[0].filename)
}

/** @returns the path of the Debian package */
async function build(source, tree, out) {
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const programs = JSON.parse(readFileSync(join(source, 'packed', 'package.json'), 'utf8'))
  if (programs.madeFor === undefined)
    throw new Error('a portable package compiles at its installation: pack without KS_PACKAGE')
  const { platform, arch, node } = {
    platform: programs.madeFor.os[0],
    arch: programs.madeFor.cpu[0],
    node: programs.madeFor.node,
  }
  if (platform !== 'linux' || !(arch in ARCHITECTURES))
    throw new Error(`there is no Debian package for ${platform} ${arch}`)
  const root = join(tree, ROOT_FOLDER)
  mkdirSync(dirname(root), { recursive: true })
  cpSync(join(source, 'packed'), root, { recursive: true })
  mkdirSync(join(tree, 'usr/bin'), { recursive: true })
  for (const program of PROGRAMS) {
    chmodSync(join(root, 'bin', `${program}.js`), 0o755)
    symlinkSync(`../lib/knowledge-spaces/bin/${program}.js`, join(tree, 'usr/bin', program))
  }
  // The programs have their own copy, which `ks help` does not need.
  for (const path of listFiles(join(root, 'man')))
    write(tree, `usr/share/man/man1/${path.split('/').at(-1)}.gz`, gzipSync(readFileSync(path), { level: 9 }))
  rmSync(join(root, 'man'), { recursive: true })
  for (const program of ['ks', 'kchat'])
    for (const { shell, path } of COMPLETIONS) {
      const { stdout } = execaSync(process.execPath, [join(root, 'bin', `${program}.js`), 'completion', shell], {
        stripFinalNewline: false,
      })
      write(tree, path(program), stdout)
    }
  write(tree, 'usr/lib/systemd/user/ksd.service', await renderUserUnit())
  write(
    tree,
    'usr/share/doc/knowledge-spaces/copyright',
    `${readFileSync(join(root, 'LICENSE'), 'utf8')}\n${readFileSync(join(source, 'THIRD-PARTY-NOTICES.md'), 'utf8')}`,
  )
  const kilobytes = Math.ceil(listFiles(tree).reduce((sum, path) => sum + readFileSync(path).length, 0) / 1024)
  const architecture = ARCHITECTURES[arch]
  write(tree, 'DEBIAN/control', renderControl({ manifest, node, architecture, kilobytes }))
  mkdirSync(out, { recursive: true })
  const file = join(out, `knowledge-spaces_${manifest.version}_${architecture}.deb`)
  execaSync('dpkg-deb', ['--build', '--root-owner-group', '-Zgzip', '-z6', tree, file])
  return file
}

function renderControl({ manifest, node, architecture, kilobytes }) {
  const major = Number(/^v(\d+)/.exec(node)?.[1])
  const oldest = /^>=(\S+)/.exec(manifest.engines.node)?.[1] ?? `${major}.0.0`
  return [
    'Package: knowledge-spaces',
    `Version: ${manifest.version}`,
    `Architecture: ${architecture}`,
    'Maintainer: Knowledge Spaces contributors <root@localhost>',
    `Installed-Size: ${kilobytes}`,
    `Depends: nodejs (>= ${oldest}), nodejs (<< ${major + 1}), libc6 (>= 2.36)`,
    'Section: text',
    'Priority: optional',
    `Description: ${manifest.description.replace(/\.$/, '')}`,
    '',
  ].join('\n')
}

/** The unit of `ks daemon install` with the folders of every user: `systemctl --user enable --now ksd`. */
async function renderUserUnit() {
  const { renderSystemdUnit } = await import('../../dist/cli/service/unit.js')
  const unit = renderSystemdUnit({
    node: '/usr/bin/node',
    ksd: `/${ROOT_FOLDER}/bin/ksd.js`,
    dataDir: '/HOME/.local/share/ks',
    folders: {},
    environmentFile: '/HOME/.config/ks/ksd.env',
  })
  return unit.replace(/^#.*\n/, '').replaceAll('/HOME/', '%h/')
}

function write(tree, path, content) {
  const target = join(tree, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, content)
}
