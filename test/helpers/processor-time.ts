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

/**
 * Whether work on twice the input takes about twice the processor time, where that of a square takes four times. The
 * collector, and a cold compiler, can only make it look worse: what looks so is measured again.
 *
 * @param work does it on input of a size
 * @returns the last processor times in milliseconds, and whether they grow with the input
 */
export async function growth(
  work: (size: number) => Promise<unknown>,
  { size, floorMs }: { size: number; floorMs: number },
): Promise<{ halfMs: number; wholeMs: number; isLinear: boolean }> {
  const timed = async (of: number) => {
    const before = process.cpuUsage()
    await work(of)
    return processorMsSince(before)
  }
  await work(Math.ceil(size / 50))
  for (let tries = 3; ; tries--) {
    const halfMs = await timed(size / 2)
    const wholeMs = await timed(size)
    const isLinear = wholeMs < Math.max(floorMs, halfMs * 3)
    if (isLinear || tries === 1) return { halfMs, wholeMs, isLinear }
  }
}
