internal import CFlite

/// English speech synthesis with flite (CMU) through its C library: 16 kHz (8 kHz for `kal`), about 1 % of a core, no models to install.
///
/// Not thread-safe, because flite is not: `FliteSynthesizer` owns it.
@safe struct FliteLibrary {
    /// A recorded speaker.
    enum Voice: String, CaseIterable, Sendable {
        /// Female, American.
        case slt
        /// Male, American.
        case rms
        /// Male, Scottish.
        case awb
        /// Male, American; a simple diphone voice.
        case kal
    }

    struct Speech {
        var samples: [Int16]
        /// Hz.
        var sampleRate: Int
        /// Times in seconds.
        var words: [(text: String, start: Double, end: Double)]
    }

    private let voices: [Voice: UnsafeMutablePointer<cst_voice>]

    init() {
        flite_init()
        var voices: [Voice: UnsafeMutablePointer<cst_voice>] = unsafe [:]
        for voice in Voice.allCases {
            unsafe voices[voice] =
                switch voice {
                case .slt: unsafe register_cmu_us_slt(nil)
                case .rms: unsafe register_cmu_us_rms(nil)
                case .awb: unsafe register_cmu_us_awb(nil)
                case .kal: unsafe register_cmu_us_kal(nil)
                }
        }
        unsafe self.voices = unsafe voices
    }

    /// - Parameters:
    ///   - sentence: printable ASCII. flite ends the process on some malformed input, so this is not optional.
    ///   - stretch: factor of all durations.
    /// - Returns: nil if flite produced no audio.
    func speak(_ sentence: String, voice: Voice, stretch: Double) -> Speech? {
        precondition(sentence.utf8.allSatisfy { 0x20..<0x7F ~= $0 }, "flite speaks printable ASCII only")
        guard let voice = unsafe voices[voice] else { return nil }
        unsafe flite_feat_set_float(voice.pointee.features, "duration_stretch", Float(stretch))
        guard let utterance = unsafe flite_synth_text(sentence, voice) else { return nil }
        defer { unsafe delete_utterance(utterance) }
        guard let wave = unsafe utt_wave(utterance), unsafe wave.pointee.num_samples > 0, let samples = unsafe wave.pointee.samples else {
            return nil
        }
        return Speech(
            samples: unsafe Array(UnsafeBufferPointer(start: samples, count: Int(wave.pointee.num_samples))),
            sampleRate: Int(unsafe wave.pointee.sample_rate), words: unsafe Self.words(of: utterance))
    }

    /// Each token of the text with the time from its first word's first segment to its last word's last segment.
    private static func words(of utterance: UnsafeMutablePointer<cst_utterance>) -> [(String, Double, Double)] {
        var words: [(String, Double, Double)] = []
        var token = unsafe relation_head(utt_relation(utterance, "Token"))
        while let current = unsafe token {
            unsafe token = item_next(current)
            var times: [(start: Double, end: Double)] = []
            var word = unsafe item_daughter(current)
            while let spoken = unsafe word {
                unsafe word = item_next(spoken)
                guard unsafe item_daughter(item_as(spoken, "SylStructure")) != nil else { continue }
                // The end of the segment before the word's first one; 0 if there is none.
                let start = unsafe flite_ffeature_float(spoken, "R:SylStructure.daughter1.daughter1.R:Segment.p.end")
                let end = unsafe flite_ffeature_float(spoken, "R:SylStructure.daughtern.daughtern.end")
                times.append((Double(start), Double(end)))
            }
            guard let first = times.first, let last = times.last, let name = unsafe item_feat_string(current, "name") else { continue }
            words.append((unsafe String(cString: name), first.start, last.end))
        }
        return words
    }
}
