/** Packages that are compiled where they are installed. */
export const NATIVE_PACKAGES = ['better-sqlite3', 'hnswlib-node']

/**
 * Builds the `package.json` that npm reads: commands, man pages and supported systems. Only a portable package has
 * dependencies: those that must be compiled.
 *
 * @param {object} manifest `package.json` of the checkout
 * @param {{ isPortable: boolean, man: string[] }} options `man`: paths of the manual pages
 */
export function buildNpmManifest(manifest, { isPortable, man }) {
  const { name, version, description, license, engines, bin, dependencies } = manifest
  const native = Object.fromEntries(NATIVE_PACKAGES.map((dependency) => [dependency, dependencies[dependency]]))
  const requirements = isPortable
    ? { engines, dependencies: native }
    : { ...getSystem(), engines: { node: getNodeRange(engines.node) } }
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    ...requirements,
    bin: Object.fromEntries(Object.entries(bin).map(([program, path]) => [program, `packed/${path}`])),
    man: man.sort(),
    files: ['packed', 'THIRD-PARTY-NOTICES.md'],
  }
}

/** Builds the `package.json` that the programs read: version, settings of oclif, and the system of the binaries. */
export function buildProgramManifest(manifest, { isPortable }) {
  const { name, version, license, type, engines, bin, oclif, optionalDependencies } = manifest
  const { modules: abi } = process.versions
  const madeFor = isPortable ? {} : { madeFor: { ...getSystem(), abi, node: process.version } }
  return { name, version, license, private: true, type, engines, bin, oclif, optionalDependencies, ...madeFor }
}

function getSystem() {
  const { platform, arch } = process
  const libc = platform === 'linux' ? { libc: [isGlibc() ? 'glibc' : 'musl'] } : {}
  return { os: [platform], cpu: [arch], ...libc }
}

function isGlibc() {
  return process.report.getReport().header.glibcVersionRuntime !== undefined
}

/** The versions of Node that can load the compiled better-sqlite3: those of one major version. */
function getNodeRange(oldest) {
  const major = Number(process.versions.node.split('.')[0])
  const min = oldest.startsWith(`>=${major}.`) ? oldest : `>=${major}.0.0`
  return `${min} <${major + 1}`
}
