/// Shortens or lengthens speech slightly without changing its pitch, by removing or repeating a pitch period and cross-fading the seam
/// (waveform similarity overlap-add).
///
/// 48 kHz, interleaved. Stateless and deterministic.
public enum TimeStretch {
    /// Length of the cross-fade: 5 ms.
    private static let seam = 240
    /// 5 to 14 ms: one period of a low voice, or several of a high one.
    private static let lags = 240...672
    /// Step of the coarse search, in samples and lags.
    private static let stride = 8
    /// Audio less self-similar has no period, and its seam would be audible unless it is softer than `softMax`.
    private static let likenessMin: Float = 0.4
    private static let softMax: Float = 200

    /// Removes a piece of the samples from `start` on.
    ///
    /// - Returns: removed samples per channel, 5 to 14 ms of them; 0 if nothing can be removed.
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
    /// - Returns: added samples per channel, 5 to 14 ms of them; 0 if nothing can be repeated.
    public static func lengthen(_ pcm: inout [Int16], from start: Int, channels: Int) -> Int {
        let count = (pcm.count - start) / channels
        guard let lag = bestLag(pcm, from: start, count: count, channels: channels) else { return 0 }
        // The piece, a seam back to its start, then the piece again.
        var repeated = Array(pcm[start..<start + lag * channels])
        for index in 0..<seam * channels {
            repeated.append(mix(pcm[start + lag * channels + index], pcm[start + index], index / channels))
        }
        pcm.replaceSubrange(start..<start + seam * channels, with: repeated)
        return lag
    }

    /// Cross-fades into the samples at `start`, where a piece before them was skipped.
    ///
    /// - Parameter before: the continuation of the audio before the gap, at least 5 ms.
    public static func join(_ before: [Int16], to pcm: inout [Int16], at start: Int, channels: Int) {
        for index in 0..<min(seam * channels, before.count, pcm.count - start) {
            pcm[start + index] = mix(before[index], pcm[start + index], index / channels)
        }
    }

    /// Cross-fades from `one` to `other` over the seam.
    private static func mix(_ one: Int16, _ other: Int16, _ index: Int) -> Int16 {
        Int16((Int(one) * (seam - index) + Int(other) * index) / seam)
    }

    /// The lag with the highest self-similarity.
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

    /// Normalized correlation of the seam with the audio `lag` later, -1 to 1.
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
