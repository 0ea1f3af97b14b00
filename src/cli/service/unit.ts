import { NODE_FLAGS, RUNTIME_SETTINGS } from '../../client/start-daemon.js'

/** What the service manager of a user is told of the daemon. It holds no secrets. */

/** How `ksd` is started. */
export interface ServiceProgram {
  node: string
  ksd: string
  dataDir: string
  /** folders that the daemon has from variables of who installs it, by their names */
  folders: Readonly<Record<string, string>>
  /** file that may hold variables such as keys of providers; it need not be there */
  environmentFile: string
}

/** the first line of a file that was written by `ks daemon install` */
export const MARK = 'written by `ks daemon install`'
export const LABEL = 'knowledge-spaces.ksd'
/** An orderly stop closes indexes and waits for what runs to reach its next durable step. */
const STOP_SECONDS = 60
const RESTART_SECONDS = 5
/** exit codes of `ksd` that another start changes nothing about: a data directory of another version, settings that are wrong */
const NO_RESTART = '2 9 65'

/** A unit of systemd for one user. */
export function systemdUnit(program: ServiceProgram): string {
  const { environmentFile } = program
  return [
    `# ${MARK}`,
    '[Unit]',
    'Description=Knowledge Spaces daemon',
    // a data directory that another daemon has is free again when that one leaves
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    ...Object.entries(environment(program)).map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}`),
    `EnvironmentFile=-${environmentFile.replaceAll('%', '%%')}`,
    `ExecStart=${argv(program).map(unitArgument).join(' ')}`,
    'Restart=on-failure',
    `RestartSec=${RESTART_SECONDS}`,
    `RestartPreventExitStatus=${NO_RESTART}`,
    `TimeoutStopSec=${STOP_SECONDS}`,
    'UMask=0077',
    // what a unit of a user can have without namespaces, which not every system lets users make
    'NoNewPrivileges=yes',
    'LockPersonality=yes',
    'RestrictRealtime=yes',
    'RestrictSUIDSGID=yes',
    'SystemCallArchitectures=native',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n')
}

/** A job of launchd for one user. */
export function launchdPlist(program: ServiceProgram, logFile: string): string {
  const texts = (values: readonly string[]) => values.map((value) => `    <string>${xml(value)}</string>`)
  const pairs = Object.entries(environment(program)).flatMap(([name, value]) => [
    `    <key>${xml(name)}</key>`,
    `    <string>${xml(value)}</string>`,
  ])
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${MARK} -->`,
    '<plist version="1.0">',
    '<dict>',
    '  <key>Label</key>',
    `  <string>${LABEL}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...texts(argv(program)),
    '  </array>',
    '  <key>EnvironmentVariables</key>',
    '  <dict>',
    ...pairs,
    '  </dict>',
    '  <key>RunAtLoad</key>',
    '  <true/>',
    '  <key>KeepAlive</key>',
    '  <dict>',
    '    <key>SuccessfulExit</key>',
    '    <false/>',
    '  </dict>',
    '  <key>ExitTimeOut</key>',
    `  <integer>${STOP_SECONDS}</integer>`,
    '  <key>Umask</key>',
    '  <integer>63</integer>',
    '  <key>StandardErrorPath</key>',
    `  <string>${xml(logFile)}</string>`,
    '</dict>',
    '</plist>',
    '',
  ].join('\n')
}

/** Whether a unit or job that was written here is of the daemon of a data directory: of that one, not of one whose name begins so. */
export function isOfDataDir(kind: 'systemd' | 'launchd', text: string, dataDir: string): boolean {
  const written =
    kind === 'systemd' ? ` ${DATA_DIR} ${unitArgument(dataDir)}\n` : `<string>${xml(dataDir)}</string>\n  </array>`
  return text.includes(written)
}

const DATA_DIR = '--data-dir'

/** The data directory is the last word, where `isOfDataDir` looks for it. */
function argv({ node, ksd, dataDir }: ServiceProgram): string[] {
  return [node, ...NODE_FLAGS, ksd, '--mode', 'service', DATA_DIR, dataDir]
}

function environment({ folders }: ServiceProgram): Record<string, string> {
  return { ...RUNTIME_SETTINGS, ...folders }
}

/** A word in quotation marks, in which systemd would see specifiers and escapes. */
function unitWord(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`
}

/** The same in a command, where variables would be put in, too. */
function unitArgument(text: string): string {
  return /^[\w./:=@,+-]+$/.test(text) ? text : unitWord(text).replaceAll('$', '$$$$')
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
