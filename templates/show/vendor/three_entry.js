// The part of three.js that the page uses.
export {
  AxesHelper, Box3, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry,
  DirectionalLight, GridHelper, Group, HemisphereLight, Line, LineBasicMaterial, Matrix4, Mesh,
  MeshBasicMaterial, MeshStandardMaterial, PCFSoftShadowMap, PerspectiveCamera, PlaneGeometry, Quaternion,
  Scene, ShadowMaterial, SphereGeometry, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
export { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
