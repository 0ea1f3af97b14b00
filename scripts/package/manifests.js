/**
 * Writes a Homebrew formula and a Scoop manifest for a portable package (`KS_PACKAGE=portable npm pack`):
 * `npm run package:manifests -- --tarball FILE --url URL [--out FOLDER]`. The URL is where the file will be served.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { ROOT } from '../build.js'

/** @param {{ version: string, description: string, license: string, url: string, sha256: string }} release */
export function renderFormula({ version, description, license, url, sha256 }) {
  return `class KnowledgeSpaces < Formula
  desc "${description.replace(/\.$/, '')}"
  url "${url}"
  version "${version}"
  sha256 "${sha256}"
  license "${license}"

  depends_on "python@3.13" => :build
  depends_on "node@20"

  def install
    ENV["npm_config_build_from_source"] = "true"
    system Formula["node@20"].opt_bin/"npm", "install", "--allow-scripts=better-sqlite3,hnswlib-node", *std_npm_args(ignore_scripts: false)
    bin.install_symlink libexec.glob("bin/*")
    man1.install_symlink Dir[libexec/"share/man/man1/*"]
  end

  service do
    run [opt_bin/"ksd", "--mode", "service"]
    keep_alive successful_exit: false
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ks --version")
  end
end
`
}

/** @param {Parameters<typeof renderFormula>[0]} release */
export function renderScoopManifest({ version, description, license, url, sha256 }) {
  const file = basename(new URL(url).pathname)
  const manifest = {
    version,
    description,
    license,
    depends: ['nodejs-lts', 'python'],
    url: `${url}#/${file}_`,
    hash: sha256,
    notes: 'Needs the C++ tools of Visual Studio. Run `ks uninstall` before `scoop uninstall knowledge-spaces`.',
    installer: {
      script: [
        `Rename-Item "$dir\\${file}_" "${file}"`,
        `npm install -g --prefix "$dir" --allow-scripts=better-sqlite3,hnswlib-node "$dir\\${file}"`,
      ],
    },
    bin: ['ks.cmd', 'kchat.cmd', 'ksd.cmd'],
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const options = { tarball: { type: 'string' }, url: { type: 'string' }, out: { type: 'string', default: '.' } }
  const { tarball, url, out } = parseArgs({ options }).values
  if (tarball === undefined || url === undefined) {
    process.stderr.write('--tarball FILE and --url URL are needed\n')
    process.exit(2)
  }
  const { version, description, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const sha256 = createHash('sha256').update(readFileSync(tarball)).digest('hex')
  const release = { version, description, license, url, sha256 }
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, 'knowledge-spaces.rb'), renderFormula(release))
  writeFileSync(join(out, 'knowledge-spaces.json'), renderScoopManifest(release))
}
