/** The words of the service for a setting that has to be changed. */
const SETTING = /`(\w+)` in the configuration of the daemon/

/** The command that changes the setting which a message of the service names; undefined if it names none. */
export function getConfigurationHint(message: string, { isLocal }: { isLocal: boolean }): string | undefined {
  const setting = SETTING.exec(message)?.[1]
  if (setting === undefined) return undefined
  return isLocal
    ? `\`ks config ${setting} --daemon\` shows it, with a value it sets it; \`ks daemon restart\` applies the change`
    : 'the operator of the service can change its configuration'
}
