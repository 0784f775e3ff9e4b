/// Makes voice a little shorter or longer at the same pitch: a piece that repeats itself is taken out, or put in once more, and the seam
/// is faded over (waveform similarity overlap-add, as in any player of speech).
///
/// 48 kHz, interleaved. No state; the same samples always give the same.
public enum TimeStretch {
    /// 5 ms: what the seam is faded over.
    private static let seam = 240
    /// 5 to 14 ms: one period of a low voice, or a few of a high one.
    private static let lags = 240...672
    /// Samples that are compared, and lags that are tried, lie so far apart at first.
    private static let stride = 8
    /// Sound that is less like itself has no period: its seam would be heard, unless it is as soft as this.
    private static let likenessMin: Float = 0.4
    private static let softMax: Float = 200

    /// Takes a piece out of the samples from `start` on.
    ///
    /// - Returns: samples a channel that are gone, 5 to 14 ms of them; 0 if there is nothing that may go.
    public static func shorten(_ pcm: inout [Int16], from start: Int, channels: Int) -> Int {
        let count = (pcm.count - start) / channels
        guard let lag = bestLag(pcm, from: start, count: count, channels: channels) else { return 0 }
        for index in 0..<seam * channels {
            pcm[start + index] = mix(pcm[start + index], pcm[start + index + lag * channels], index / channels)
        }
        pcm.removeSubrange(start + seam * channels..<start + (seam + lag) * channels)
        return lag
    }

    /// Repeats a piece of the samples from `start` on.
    ///
    /// - Returns: samples a channel that are new, 5 to 14 ms of them; 0 if nothing is worth repeating.
    public static func lengthen(_ pcm: inout [Int16], from start: Int, channels: Int) -> Int {
        let count = (pcm.count - start) / channels
        guard let lag = bestLag(pcm, from: start, count: count, channels: channels) else { return 0 }
        // After the piece and a seam that leads back, all of it comes again.
        var repeated = Array(pcm[start..<start + lag * channels])
        for index in 0..<seam * channels {
            repeated.append(mix(pcm[start + lag * channels + index], pcm[start + index], index / channels))
        }
        pcm.replaceSubrange(start..<start + seam * channels, with: repeated)
        return lag
    }

    /// Makes samples at `start` go on from other ones, where a piece between the two is left out.
    ///
    /// - Parameter before: how the sound before would have gone on, 5 ms or more of it.
    public static func join(_ before: [Int16], to pcm: inout [Int16], at start: Int, channels: Int) {
        for index in 0..<min(seam * channels, before.count, pcm.count - start) {
            pcm[start + index] = mix(before[index], pcm[start + index], index / channels)
        }
    }

    /// From the one to the other, over the seam.
    private static func mix(_ one: Int16, _ other: Int16, _ place: Int) -> Int16 {
        Int16((Int(one) * (seam - place) + Int(other) * place) / seam)
    }

    /// The lag after which the sound is likest to what it was.
    private static func bestLag(_ pcm: [Int16], from start: Int, count: Int, channels: Int) -> Int? {
        let longest = min(lags.upperBound, count - seam)
        guard longest >= lags.lowerBound else { return nil }
        let sound = (0..<count).map { Float(pcm[start + $0 * channels]) }
        let step = Self.stride
        var best = (lag: lags.lowerBound, likeness: -Float.infinity)
        for lag in Swift.stride(from: lags.lowerBound, through: longest, by: step) {
            let likeness = likeness(sound, lag, step: step)
            if likeness > best.likeness { best = (lag, likeness) }
        }
        for lag in max(best.lag - step + 1, lags.lowerBound)...min(best.lag + step - 1, longest) {
            let likeness = likeness(sound, lag, step: 2)
            if likeness > best.likeness { best = (lag, likeness) }
        }
        let isSoft = (0..<seam).allSatisfy { abs(sound[$0]) < softMax }
        return best.likeness >= likenessMin || isSoft ? best.lag : nil
    }

    /// Normalised correlation of the seam with what comes `lag` later, -1 to 1.
    private static func likeness(_ sound: [Float], _ lag: Int, step: Int) -> Float {
        var product: Float = 0
        var one: Float = 1
        var other: Float = 1
        for index in Swift.stride(from: 0, to: seam, by: step) {
            product += sound[index] * sound[index + lag]
            one += sound[index] * sound[index]
            other += sound[index + lag] * sound[index + lag]
        }
        return product / (one * other).squareRoot()
    }
}
