internal import Audio
internal import Wire

extension SpokenFrame {
    /// What was heard, to be said again: the same packets, levels, flags and pauses.
    ///
    /// - Parameter frames: of one track, in order. Packets that are no Opus packets are left out.
    public static func repeating(_ frames: [ReceivedFrame]) -> [SpokenFrame] {
        var repeated: [SpokenFrame] = []
        var end = frames.first?.header.timestamp
        for frame in frames {
            guard let ticks = try? OpusPacket(frame.packet).ticks else { continue }
            let silence = end.map { Int(frame.header.timestamp.distance(from: $0)) } ?? 0
            end = frame.header.timestamp.advanced(by: ticks)
            repeated.append(
                SpokenFrame(
                    packet: frame.packet, ticks: ticks, silenceBefore: max(silence, 0), level: frame.header.level,
                    flags: frame.header.flags.subtracting(.forbiddenToSenders)))
        }
        return repeated
    }
}
