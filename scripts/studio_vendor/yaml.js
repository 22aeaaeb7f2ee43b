export { isMap, isScalar, isSeq, parseDocument, stringify } from "yaml";
