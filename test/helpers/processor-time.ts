/**
 * Whether work on twice the input takes about twice the processor time; a quadratic algorithm takes four times. Garbage
 * collection and a cold compiler only increase the time, so a bad result is measured again.
 *
 * @param work does it on input of a size
 * @returns the last processor times in milliseconds, and whether they grow linearly
 */
export async function growth(
  work: (size: number) => Promise<unknown>,
  { size, floorMs }: { size: number; floorMs: number },
): Promise<{ halfMs: number; wholeMs: number; isLinear: boolean }> {
  const timed = async (of: number) => {
    const before = process.cpuUsage()
    await work(of)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  await work(Math.ceil(size / 50))
  for (let tries = 3; ; tries--) {
    const halfMs = await timed(size / 2)
    const wholeMs = await timed(size)
    const isLinear = wholeMs < Math.max(floorMs, halfMs * 3)
    if (isLinear || tries === 1) return { halfMs, wholeMs, isLinear }
  }
}
