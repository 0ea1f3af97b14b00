/** The two `package.json` of a package: that which npm reads, and that which the programs find above themselves. */
/** Packages that are compiled where they are installed. */
export const NATIVE = ['better-sqlite3', 'hnswlib-node']

/** For npm: commands, man pages and the systems that it is for; nothing to install, unless something must be compiled. */
export function outerManifest(manifest, isPortable, man) {
  const { name, version, description, license, engines, bin, dependencies } = manifest
  const native = Object.fromEntries(NATIVE.map((one) => [one, dependencies[one]]))
  const isFor = isPortable ? { engines, dependencies: native } : { ...system(), engines: { node: nodes(engines.node) } }
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    ...isFor,
    bin: Object.fromEntries(Object.entries(bin).map(([program, path]) => [program, `packed/${path}`])),
    man: man.sort(),
    files: ['packed', 'THIRD-PARTY-NOTICES.md'],
  }
}

/** For the programs: version and the settings of oclif, and which binaries there are. */
export function innerManifest(manifest, isPortable) {
  const { name, version, license, type, engines, bin, oclif, optionalDependencies } = manifest
  const madeFor = isPortable ? {} : { madeFor: { ...system(), abi: process.versions.modules, node: process.version } }
  return { name, version, license, private: true, type, engines, bin, oclif, optionalDependencies, ...madeFor }
}

function system() {
  const { platform, arch } = process
  const libc = platform === 'linux' ? { libc: [isGlibc() ? 'glibc' : 'musl'] } : {}
  return { os: [platform], cpu: [arch], ...libc }
}

function isGlibc() {
  return process.report.getReport().header.glibcVersionRuntime !== undefined
}

/** better-sqlite3 is compiled for one major version of Node. */
function nodes(oldest) {
  const major = Number(process.versions.node.split('.')[0])
  const least = oldest.startsWith(`>=${major}.`) ? oldest : `>=${major}.0.0`
  return `${least} <${major + 1}`
}
