/**
 * Milliseconds of processor time since a reading of `process.cpuUsage()`: what a piece of work took of this process,
 * however many others the machine runs beside it. Clocks would tell how busy the machine is.
 */
export function processorMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** The longest that work held the event loop without letting others run, in milliseconds of processor time. */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let last = process.cpuUsage()
  let longest = 0
  const look = () => {
    longest = Math.max(longest, processorMsSince(last))
    last = process.cpuUsage()
  }
  const timer = setInterval(look, 1)
  await work()
  clearInterval(timer)
  look()
  return longest
}
