import Foundation
import Yams

/// Reads scenarios from YAML; each error is one line.
enum ScenarioFile {
    static func load(_ path: String) throws(UsageError) -> Scenario {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw UsageError("cannot read the scenario \(path); see loadtest/scenarios for examples")
        }
        var scenario = try parse(String(decoding: data, as: UTF8.self), from: path)
        if scenario.name == Scenario().name { scenario.name = URL(filePath: path).deletingPathExtension().lastPathComponent }
        return scenario
    }

    /// - Parameter source: the file's name, for error messages.
    static func parse(_ text: String, from source: String) throws(UsageError) -> Scenario {
        do {
            return try YAMLDecoder().decode(Scenario.self, from: text)
        } catch let error as DecodingError {
            throw UsageError("\(source): \(explain(error))")
        } catch {
            throw UsageError("\(source): \(String(describing: error).split(separator: "\n").joined(separator: " "))")
        }
    }

    private static func explain(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.isEmpty ? "" : context.codingPath.map(\.stringValue).joined(separator: ".") + ": "
        }
        switch error {
        case .dataCorrupted(let context):
            let reason = context.underlyingError.map { String(describing: $0) } ?? context.debugDescription
            return path(context) + reason.split(separator: "\n").joined(separator: " ")
        case .keyNotFound(let key, let context): return path(context) + "\(key.stringValue) is missing"
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            return path(context) + "expected \(name(of: type))"
        @unknown default: return String(describing: error)
        }
    }

    private static func name(of type: Any.Type) -> String {
        switch type {
        case is Int.Type, is UInt64.Type: "a whole number"
        case is Double.Type: "a number"
        case is String.Type, is Scenario.Pattern.Type: "a word"
        default: "a value of type \(type)"
        }
    }
}
