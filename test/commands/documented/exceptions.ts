import type { World } from './world.js'

/** Lines that cannot run here. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'npm run quickstart': 'installs packages; what it does after that is `ks quickstart`',
  'npm test': 'runs this test',
  'ks console': 'opens a browser; the same with `--no-open` is run',
}

/**
 * Lines that install the package or need the installed one, and lines that download a model and its runtime:
 * `test/package` and `models-pull.test.ts` cover them.
 */
export const ELSEWHERE =
  /^(npm (install|uninstall|ci|pack|run package:deb)\b|KS_PACKAGE=portable npm pack|man ks-|ks models (pull (?!--list)|remove))/

/** Lines that run until Ctrl-C: the output to wait for, and the exit code. */
export const ENDLESS: Readonly<Record<string, { shows?: RegExp; code: number }>> = {
  'ks daemon logs -f --level warn': { shows: /the tide is high/, code: 130 },
  'ks daemon start --foreground --listen 127.0.0.1:0': { shows: /answers at/, code: 0 },
  'ks spaces status example-space --watch': { shows: /knowledgeSpaceId/, code: 130 },
  'ks watch ~/notes --space example-space': { shows: /watching/, code: 130 },
  'ks watch ./docs ./specs --space example-space --format jsonl': { shows: /watching.*watching/s, code: 130 },
  'ks watch ~/notes --space notes': { shows: /watching/, code: 130 },
  'ks watch ~/notes --space notes --poll 5s': { shows: /polled every 5 s/, code: 130 },
  'ks watch ./docs --space example-space --poll 2s': { shows: /polled every 2 s/, code: 130 },
}

/** Lines that ask at a terminal, and the typed reply. */
export const ASKS: Readonly<Record<string, (world: World) => [RegExp, string]>> = {
  'ks auth login --context work': (world) => [/token.*: /i, `${world.token()}\r`],
  "ks sources delete '#a1b2c3d4' --keep-documents --space example-space": () => [/\[y\/N\]/, 'y\r'],
  'ks fs rm /workspaces/audit/old --recursive': () => [/\[y\/N\]/, 'y\r'],
}
