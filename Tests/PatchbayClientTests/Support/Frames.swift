import PatchbayClient
import Wire

extension ReceivedFrame {
    /// A 20 ms frame: number `number` of its track, sent at `number` × 20 ms, with an arrival delay.
    static func number(
        _ number: Int, alias: UInt16 = 1, flags: FrameFlags = [], voice: Bool = true, epoch: UInt8 = 0, packet: [UInt8] = [0xFC, 1, 2],
        skippedTicks: Int = 0, late milliseconds: Int64 = 0
    ) -> ReceivedFrame {
        ReceivedFrame(
            header: FrameHeader(
                flags: flags, alias: TrackAlias(alias), sequence: SequenceNumber(UInt16(truncatingIfNeeded: number)),
                level: AudioLevelByte(voice: voice, level: voice ? 20 : 70), epoch: epoch,
                timestamp: MediaTime(ticks: UInt32(truncatingIfNeeded: number * 960 + skippedTicks))),
            packet: packet, arrivedAt: Instant(nanoseconds: 1_000_000_000) + .milliseconds(Int64(number) * 20 + milliseconds))
    }
}
