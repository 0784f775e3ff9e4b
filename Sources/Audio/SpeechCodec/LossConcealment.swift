/// Conceals lost packets for a codec without concealment: repeats the last audio, alternately backwards and forwards, and fades it out.
///
/// Starting backwards keeps the waveform continuous, whatever its period.
struct LossConcealment {
    /// The length of the repeated audio.
    static let repeatedMilliseconds = 20
    /// The duration of the fade-out; silence follows.
    static let fadeMilliseconds = 60

    private let sampleRate: Int
    private let channels: Int
    /// The end of the last decoded audio, interleaved.
    private var past: [Int16] = []
    /// Samples per channel synthesized since then.
    private var concealed = 0

    init(sampleRate: Int, channels: Int) {
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// Stores the end of decoded audio.
    mutating func heard(_ pcm: ArraySlice<Int16>) {
        past = Array((past + pcm).suffix(sampleRate * Self.repeatedMilliseconds / 1_000 * channels))
        concealed = 0
    }

    /// Appends `samples` of concealment per channel.
    mutating func conceal(samples: Int, appendingTo pcm: inout [Int16]) {
        let length = past.count / channels
        let fade = sampleRate * Self.fadeMilliseconds / 1_000
        for position in concealed..<(concealed + samples) {
            guard length > 0, position < fade else {
                pcm.append(contentsOf: repeatElement(0, count: channels))
                continue
            }
            // 0, 1, …, length - 1 from the end backwards, then forwards again.
            let step = position % (2 * length)
            let frame = step < length ? length - 1 - step : step - length
            for channel in 0..<channels {
                pcm.append(Int16(Int(past[frame * channels + channel]) * (fade - position) / fade))
            }
        }
        concealed += samples
    }

    mutating func reset() {
        past = []
        concealed = 0
    }
}
