internal import Foundation

/// The folder with the models and libraries of the embedded engines. `scripts/setup-models` downloads them.
public struct ModelsFolder: Sendable, Hashable {
    /// What is installed, and who needs it.
    enum Part: String, CaseIterable, Sendable {
        case recognizer = "speech recognizer"
        case detector = "voice activity detector"
        case turnDetector = "turn detector"
        case synthesizer = "speech synthesizer"
    }

    public var path: String

    public init(path: String) {
        self.path = path
    }

    /// `PATCHBAY_MODELS`, else `$XDG_DATA_HOME/patchbay/models`, else `~/.local/share/patchbay/models`.
    public static var standard: ModelsFolder {
        let environment = ProcessInfo.processInfo.environment
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let path = value("PATCHBAY_MODELS") { return ModelsFolder(path: path) }
        let data = value("XDG_DATA_HOME") ?? (value("HOME") ?? NSHomeDirectory()) + "/.local/share"
        return ModelsFolder(path: data + "/patchbay/models")
    }

    /// What is missing and how to install it, as a sentence; nil if the folder is complete.
    public var problem: String? {
        let missing = Part.allCases.filter { !isInstalled($0) }
        return missing.isEmpty ? nil : Self.advice(missing.map { "the " + $0.rawValue }.formatted(.list(type: .and)), in: path)
    }

    func isInstalled(_ part: Part) -> Bool {
        files(of: part).allSatisfy { FileManager.default.isReadableFile(atPath: $0) }
    }

    /// - Throws: `ProviderError` with code `unavailable`, which says how to install the part.
    func require(_ part: Part) throws(ProviderError) {
        guard isInstalled(part) else { throw ProviderError(.unavailable, Self.advice("the " + part.rawValue, in: path)) }
    }

    private static func advice(_ missing: String, in path: String) -> String {
        "The models folder \(path) does not contain \(missing). Run `make models` or `scripts/setup-models` to download the models "
            + "(of the Debian package: /usr/share/patchbay/setup-models), or set PATCHBAY_MODELS to the folder that has them."
    }

    private func files(of part: Part) -> [String] {
        switch part {
        case .recognizer: [recognizerLibrary, runtimeLibrary, recognizerModel + "/encoder_model.ort"]
        case .detector: [runtimeLibrary, detectorModel]
        case .turnDetector: [runtimeLibrary, turnModel, turnFeatures]
        case .synthesizer: [synthesizerPython, synthesizerHelper, synthesizerModel]
        }
    }

    // MARK: Files

    /// The version of the files' layout and of the helper's messages. `scripts/setup-models` and `hibari_helper.py` have the same number.
    static let format = 3

    /// A symbolic link to the newest installation of this format. Programs of different versions may share the folder.
    private var installed: String { path + "/format-\(Self.format)" }

    /// ONNX Runtime, as distributed with the recognizer.
    var runtimeLibrary: String { installed + "/moonshine/libonnxruntime.so" }
    var recognizerLibrary: String { installed + "/moonshine/libmoonshine.so" }
    /// A folder.
    var recognizerModel: String { installed + "/moonshine/tiny-en" }
    var detectorModel: String { installed + "/silero/silero_vad.onnx" }
    var turnModel: String { installed + "/smart-turn/smart-turn.onnx" }
    /// The spectrogram that the model takes.
    var turnFeatures: String { installed + "/smart-turn/features.onnx" }
    var synthesizerPython: String { installed + "/hibari/venv/bin/python" }
    var synthesizerHelper: String { installed + "/hibari/hibari_helper.py" }
    var synthesizerModel: String { installed + "/hibari/hibari.onnx" }
}
