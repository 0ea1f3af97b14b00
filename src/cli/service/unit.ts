import { NODE_FLAGS, RUNTIME_SETTINGS } from '../../client/start-daemon.js'

/** Service files for the daemon. They contain no secrets. */

/** Command and folders of `ksd`. */
export interface ServiceProgram {
  node: string
  ksd: string
  dataDir: string
  /** Directory variables of the installing user, by name. */
  folders: Readonly<Record<string, string>>
  /** File that may contain variables such as provider keys; optional. */
  environmentFile: string
}

/** First line of a file written by `ks daemon install`. */
export const MARK = 'written by `ks daemon install`'
export const LABEL = 'knowledge-spaces.ksd'
/** An orderly stop closes indexes and waits until running work reaches its next durable step. */
const STOP_SECONDS = 60
const RESTART_SECONDS = 5
/** Exit codes of `ksd` after which a restart is useless: a data directory of another version, or invalid settings. */
const NO_RESTART = '2 9 65'

/** Renders a systemd user unit. */
export function systemdUnit(program: ServiceProgram): string {
  const { environmentFile } = program
  return [
    `# ${MARK}`,
    '[Unit]',
    'Description=Knowledge Spaces daemon',
    // A data directory that another daemon has locked becomes free when it stops.
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
    // Hardening of a user unit without namespaces, which some systems do not allow to users.
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

/** Renders a launchd job of a user. */
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

/** Whether a generated unit or job is for exactly this data directory. */
export function isOfDataDir(kind: 'systemd' | 'launchd', text: string, dataDir: string): boolean {
  const written =
    kind === 'systemd' ? ` ${DATA_DIR} ${unitArgument(dataDir)}\n` : `<string>${xml(dataDir)}</string>\n  </array>`
  return text.includes(written)
}

const DATA_DIR = '--data-dir'

/** The data directory is the last argument, where `isForDataDir` looks for it. */
function argv({ node, ksd, dataDir }: ServiceProgram): string[] {
  return [node, ...NODE_FLAGS, ksd, '--mode', 'service', DATA_DIR, dataDir]
}

function environment({ folders }: ServiceProgram): Record<string, string> {
  return { ...RUNTIME_SETTINGS, ...folders }
}

/** Quotes a word and escapes systemd's specifiers and escapes. */
function unitWord(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`
}

/** Quotes an argument of a command, where systemd also expands variables. */
function unitArgument(text: string): string {
  return /^[\w./:=@,+-]+$/.test(text) ? text : unitWord(text).replaceAll('$', '$$$$')
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
