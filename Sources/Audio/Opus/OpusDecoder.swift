internal import COpus

/// Decodes Opus packets to PCM (RFC 6716) and conceals lost ones.
///
/// A decoder carries state from packet to packet: use one per track, in order, and report every loss with `conceal(samples:)` or
/// `recover(samples:from:)`. Not `Sendable`: create it where it is used.
@safe public struct OpusDecoder: ~Copyable {
    /// Output rate in Hz; any packet decodes to any of Opus's rates.
    public let sampleRate: Int
    /// Output channels, interleaved; packets are up- or downmixed as needed.
    public let channels: Int
    private let state: OpaquePointer
    /// Fits the longest packet, 120 ms.
    private var scratch: [Int16]

    /// - Parameters:
    ///   - sampleRate: 8,000, 12,000, 16,000, 24,000 or 48,000 Hz.
    ///   - channels: 1 or 2.
    /// - Throws: `OpusError` if a value is out of range or memory is short.
    public init(sampleRate: Int = 48_000, channels: Int = 1) throws(OpusError) {
        try OpusRate.check(sampleRate: sampleRate, channels: channels)
        var code = OPUS_OK
        let made = unsafe opus_decoder_create(Int32(sampleRate), Int32(channels), &code)
        guard let made = unsafe made, code == OPUS_OK else { throw .library(code: Int(code)) }
        self.sampleRate = sampleRate
        self.channels = channels
        self.scratch = [Int16](repeating: 0, count: OpusPacket.ticksLimit * sampleRate / 48_000 * channels)
        unsafe state = made
    }

    deinit {
        unsafe opus_decoder_destroy(state)
    }

    /// Decodes one packet and appends its samples to `pcm`, interleaved.
    ///
    /// - Returns: samples per channel, 2.5 to 120 ms of them.
    /// - Throws: `.packet` if the bytes are not an Opus packet; the state is unchanged then, so the loss can be concealed.
    public mutating func decode(_ packet: RawSpan, appendingTo pcm: inout [Int16]) throws(OpusError) -> Int {
        let samples = try self.samples(in: packet)
        return try run(packet, fec: false, samples: samples, appendingTo: &pcm)
    }

    public mutating func decode(_ packet: RawSpan) throws(OpusError) -> [Int16] {
        var pcm: [Int16] = []
        _ = try decode(packet, appendingTo: &pcm)
        return pcm
    }

    public mutating func decode(_ packet: [UInt8]) throws(OpusError) -> [Int16] {
        var pcm: [Int16] = []
        _ = try decode(unsafe packet.span.bytes, appendingTo: &pcm)
        return pcm
    }

    /// Synthesizes audio for a lost packet: continues the last one and fades out (packet loss concealment). After DTX packets it is comfort
    /// noise.
    ///
    /// - Parameter samples: samples per channel, a multiple of 2.5 ms up to 120 ms; call again for more.
    public mutating func conceal(samples: Int) throws(OpusError) -> [Int16] {
        var pcm: [Int16] = []
        try conceal(samples: samples, appendingTo: &pcm)
        return pcm
    }

    public mutating func conceal(samples: Int, appendingTo pcm: inout [Int16]) throws(OpusError) {
        try check(lost: samples)
        _ = try run(RawSpan(), fec: false, samples: samples, appendingTo: &pcm)
    }

    /// Reconstructs a lost packet from the in-band FEC of the following packet, which is decoded afterwards as usual. Without FEC in it this equals
    /// `conceal(samples:)`.
    ///
    /// - Parameter samples: missing samples per channel, a multiple of 2.5 ms up to 120 ms.
    public mutating func recover(samples: Int, from following: RawSpan) throws(OpusError) -> [Int16] {
        try check(lost: samples)
        _ = try self.samples(in: following)
        var pcm: [Int16] = []
        _ = try run(following, fec: true, samples: samples, appendingTo: &pcm)
        return pcm
    }

    public mutating func recover(samples: Int, from following: [UInt8]) throws(OpusError) -> [Int16] {
        try recover(samples: samples, from: unsafe following.span.bytes)
    }

    /// Resets the state, for a track whose epoch has changed.
    public mutating func reset() {
        let code = unsafe patchbay_opus_decoder_reset(state)
        precondition(code == OPUS_OK, "libopus failed to reset a decoder: code \(code)")
    }

    /// Sets an Ogg Opus header's output gain, in 1/256 dB (RFC 7845 section 5.1).
    mutating func setGain(_ gain: Int16) {
        let code = unsafe patchbay_opus_decoder_set_gain(state, Int32(gain))
        precondition(code == OPUS_OK, "libopus rejected a 16-bit gain: code \(code)")
    }

    private func samples(in packet: RawSpan) throws(OpusError) -> Int {
        do {
            return try OpusPacket(packet).ticks * sampleRate / 48_000
        } catch {
            throw .packet(error)
        }
    }

    private func check(lost samples: Int) throws(OpusError) {
        guard samples > 0, samples.isMultiple(of: sampleRate / 400), samples * channels <= scratch.count else {
            throw .frameLength(samples: samples)
        }
    }

    /// libopus interprets an empty packet as lost.
    private mutating func run(
        _ packet: RawSpan, fec: Bool, samples: Int, appendingTo pcm: inout [Int16]
    ) throws(OpusError) -> Int {
        let state = unsafe self.state
        let decoded = unsafe packet.withUnsafeBytes { bytes in
            let input = unsafe bytes.isEmpty ? nil : bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe scratch.withUnsafeMutableBufferPointer { output in
                guard let room = output.baseAddress else { return OPUS_BUFFER_TOO_SMALL }
                return unsafe opus_decode(state, input, Int32(bytes.count), room, Int32(samples), fec ? 1 : 0)
            }
        }
        guard decoded >= 0 else { throw .library(code: Int(decoded)) }
        pcm.append(contentsOf: scratch[..<(Int(decoded) * channels)])
        return Int(decoded)
    }
}
