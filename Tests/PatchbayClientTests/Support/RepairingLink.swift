import PatchbayClient
import Wire

/// A TCP connection that loses packets and repairs them, in virtual time: a lost packet comes a round trip and a frame later, and what is
/// behind it comes with it.
struct RepairingLink {
    var delayMs = 50
    var lossPercent = 2.0
    /// The period in which nothing passes, in ms.
    var outage = 0..<0
    /// Frames older than this at the end of the outage are dropped, as by the gateway.
    var ageMaxMs = 200

    /// The frames that arrive of those sent every 20 ms.
    func carry(_ packets: [[UInt8]], seed: Int) -> [ReceivedFrame] {
        var random = SplitMix64(seed: seed)
        var arrived = 0
        var received: [ReceivedFrame] = []
        for (number, packet) in packets.enumerated() {
            let sent = number * 20
            var passes = sent + delayMs
            while random.chance(lossPercent) { passes += 2 * delayMs + 20 }
            if outage.contains(sent) {
                // Frames in the kernel arrive after the outage; frames queued in the gateway only if still fresh.
                if sent > outage.lowerBound + 300, sent < outage.upperBound - ageMaxMs { continue }
                passes = outage.upperBound + delayMs + (sent > outage.lowerBound + 300 ? 2 * delayMs : 0)
            }
            arrived = max(arrived, passes)
            received.append(.number(number, packet: packet, late: Int64(arrived - sent)))
        }
        return received
    }
}
