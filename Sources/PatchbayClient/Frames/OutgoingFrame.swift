internal import Wire

/// A frame on its way to the loop, which knows its track's alias and numbers it.
struct OutgoingFrame: Sendable {
    var packet: [UInt8]
    /// How long the packet lasts, in 48 kHz ticks.
    var ticks: Int
    var timing: FrameTiming
    var level: AudioLevelByte
    var flags: FrameFlags
}
