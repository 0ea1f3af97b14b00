import { NODE_FLAGS, RUNTIME_SETTINGS } from '../../client/start-daemon.js'

/** Service files for the daemon. They contain no secrets. */

/** Command and folders of `ksd`. */
export interface ServiceProgram {
  /** Path of Node. */
  node: string
  /** Path of `ksd`. */
  ksd: string
  dataDir: string
  /** Directory variables of the installing user, by name. */
  folders: Readonly<Record<string, string>>
  /** File that may contain variables such as provider keys; optional. */
  environmentFile: string
}

/** First line of a file written by `ks daemon install`. */
export const GENERATED_MARK = 'written by `ks daemon install`'
export const LAUNCHD_LABEL = 'knowledge-spaces.ksd'
/** An orderly stop closes indexes and waits until running work reaches its next durable step. */
const STOP_SECONDS = 60
const RESTART_SECONDS = 5
/** Exit codes of `ksd` after which a restart is useless: a data directory of another version, or invalid settings. */
const NO_RESTART_EXIT_CODES = '2 9 65'

export function renderSystemdUnit(program: ServiceProgram): string {
  const { environmentFile } = program
  return [
    `# ${GENERATED_MARK}`,
    '[Unit]',
    'Description=Knowledge Spaces daemon',
    // A data directory that another daemon has locked becomes free when it stops.
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    ...Object.entries(getEnvironment(program)).map(
      ([name, value]) => `Environment=${quoteUnitWord(`${name}=${value}`)}`,
    ),
    `EnvironmentFile=-${environmentFile.replaceAll('%', '%%')}`,
    `ExecStart=${getArguments(program).map(quoteUnitArgument).join(' ')}`,
    'Restart=on-failure',
    `RestartSec=${RESTART_SECONDS}`,
    `RestartPreventExitStatus=${NO_RESTART_EXIT_CODES}`,
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

export function renderLaunchdPlist(program: ServiceProgram, logFile: string): string {
  const toStrings = (values: readonly string[]) => values.map((value) => `    <string>${escapeXml(value)}</string>`)
  const pairs = Object.entries(getEnvironment(program)).flatMap(([name, value]) => [
    `    <key>${escapeXml(name)}</key>`,
    `    <string>${escapeXml(value)}</string>`,
  ])
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${GENERATED_MARK} -->`,
    '<plist version="1.0">',
    '<dict>',
    '  <key>Label</key>',
    `  <string>${LAUNCHD_LABEL}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...toStrings(getArguments(program)),
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
    `  <string>${escapeXml(logFile)}</string>`,
    '</dict>',
    '</plist>',
    '',
  ].join('\n')
}

/** Whether a generated unit or job is for exactly this data directory. */
export function isForDataDir(kind: 'systemd' | 'launchd', text: string, dataDir: string): boolean {
  const expected =
    kind === 'systemd'
      ? ` ${DATA_DIR_FLAG} ${quoteUnitArgument(dataDir)}\n`
      : `<string>${escapeXml(dataDir)}</string>\n  </array>`
  return text.includes(expected)
}

const DATA_DIR_FLAG = '--data-dir'

/** The data directory is the last argument, where `isForDataDir` looks for it. */
function getArguments({ node, ksd, dataDir }: ServiceProgram): string[] {
  return [node, ...NODE_FLAGS, ksd, '--mode', 'service', DATA_DIR_FLAG, dataDir]
}

function getEnvironment({ folders }: ServiceProgram): Record<string, string> {
  return { ...RUNTIME_SETTINGS, ...folders }
}

/** Quotes a word and escapes systemd's specifiers and escapes. */
function quoteUnitWord(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`
}

/** Quotes an argument of a command, where systemd also expands variables. */
function quoteUnitArgument(text: string): string {
  return /^[\w./:=@,+-]+$/.test(text) ? text : quoteUnitWord(text).replaceAll('$', '$$$$')
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
